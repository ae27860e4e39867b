import { describe, expect, it } from 'vitest';
import { decodeText, detectEncoding } from '../../../../../functions/engines/office/detect/encoding.ts';

const bytes = (hex: string) => Buffer.from(hex.replace(/\s/g, ''), 'hex');

/** Encodes text in an encoding of one byte for each character. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const all = Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte)));
  return Buffer.from([...text].map((character) => all.indexOf(character)));
}

describe('the encoding of text', () => {
  it.each<readonly [string, Buffer, string]>([
    ['ASCII', Buffer.from('name,amount\n'), 'utf-8'],
    ['UTF-8', Buffer.from('Äpfel, Größe\n'), 'utf-8'],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffx'), 'utf-8'],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeffname;x\r\n', 'utf16le'), 'utf-16le'],
    ['UTF-16 without one', Buffer.from('name;Größe\r\n', 'utf16le'), 'utf-16le'],
    ['big-endian UTF-16', Buffer.from('name;Größe\r\n', 'utf16le').swap16(), 'utf-16be'],
    ['UTF-32', bytes('4e000000 e4000000 00f60100 0a000000'), 'utf-32le'],
    ['big-endian UTF-32', bytes('0000004e 000000e4 0001f600 0000000a'), 'utf-32be'],
    ['UTF-16 of short lines without one', Buffer.from('a\tb\n', 'utf16le'), 'utf-16le'],
    ['German in Windows-1252', Buffer.from('Name\tMenge\n"Äpfel, rote"\t12\n', 'latin1'), 'windows-1252'],
    ['French in Windows-1252', Buffer.from('Prénom;Âge\nHélène;42\nCôté;é\n', 'latin1'), 'windows-1252'],
    // 商品,価格 りんご,100 みかん,200 合計,300
    [
      'Japanese in Shift-JIS',
      bytes(
        '8fa4 9569 2c 89bf 8a69 0a 82e8 82f1 82b2 2c 313030 0a 82dd 82a9 82f1 2c 323030 0a 8d87 8c76 2c 333030 0a',
      ),
      'shift_jis',
    ],
    // Привет, мир. Как дела?
    [
      'Russian in Windows-1251',
      bytes('cff0 e8e2 e5f2 2c20 ece8 f02e 20ca e0ea 20e4 e5eb e03f'),
      'windows-1251',
    ],
    // 名前,年齢 山田,30, and Name,Ort A,東京
    ['short Japanese', bytes('96bc 914f 2c 944e 97ee 0a 8e52 9363 2c 3330 0a'), 'shift_jis'],
    ['Japanese beside English', bytes('4e616d65 2c 4f7274 0a 41 2c 938c 8b9e 0a'), 'shift_jis'],
    ['English with apostrophes', Buffer.from('it\x92s one\nthat\x92s two\n', 'latin1'), 'windows-1252'],
    ['Spanish ordinals', Buffer.from('1º piso, 2ª puerta', 'latin1'), 'windows-1252'],
    ['Finnish', Buffer.from('Päällä;Määrä;Työntekijä\nÅbo;São Tomé', 'latin1'), 'windows-1252'],
  ])('is detected for %s', (_, text, encoding) => {
    expect(detectEncoding(text)).toBe(encoding);
  });
});

it.each([
  ['windows-1250', 'Towar;Opis\nŻółta świeca;Łóżko dziecięce\nźdźbło;ścienny'],
  ['windows-1250', 'Zboží;Cena\nKůň;žluťoučký\nŘeka;účet'],
  ['windows-1250', 'Termék;Ár\nErdőgyűrű;tűzhely\nszőlő;kör'],
  ['windows-1254', 'Ürün;Şehir\nYeşil çay bardağı;Iğdır\nAhşap kaşık;İzmir'],
  ['windows-1257', 'Prekė;Kaina\nŽalia žuvis;šaukštas\nąžuolas;dėžė'],
  ['windows-1250', 'név,város\nErzsébet,Győr'],
  ['windows-1250', 'nume,oraş\nŞtefan,Iaşi'],
  ['windows-1254', 'ad,şehir\nAyşe,İzmir\nOğuz,Muğla'],
  ['windows-1252', 'nimi,linn\nÕie,Jõgeva\nÜlle,Võru'],
  ['windows-1252', 'nome,opções\nSimões,São'],
  ['windows-1252', 'nafn,þjóð\nAlþingi,Ísafjörður'],
  ['windows-1252', 'Artículo;Tamaño\nPiñón;¿Qué?\n5 m³;£5'],
  ['windows-1252', 'Maçã;Preço\nPão;coração\nàs três;avô'],
  ['windows-1252', 'Ærø;Størrelse\nBåd;sød\nhøne;æble'],
])('%s is detected by the letters of a language: %s', (encoding, text) => {
  expect(detectEncoding(encode(text, encoding))).toBe(encoding);
});

it('decodes UTF-32 without its byte order mark', () => {
  expect(decodeText(bytes('fffe0000 4e000000 e4000000 00f60100'), 'utf-32le')).toBe('Nä😀');
  expect(decodeText(bytes('0000feff 0000004e 000000e4 0001f600'), 'utf-32be')).toBe('Nä😀');
});
