import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { readResult } from '../../../functions/platform/invoke.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { createLog, describe as tell } from '../../../functions/shared/log.ts';
import { pdfOf } from '../../fixtures/pdf.ts';
import { useEngine } from '../conversion.ts';

const { convert } = useEngine(pdftools, createEngine);

const TEXTS = {
  'Chinese letters': '微软雅黑',
  'control characters': 'a\r\nX-Header: b\x1b[31m\x07\x9b2J\u202e\u2028[Output] <br>',
  '100 kB': '字'.repeat(50_000),
};

const nameOf = (text: string) =>
  `/${[...Buffer.from(text.slice(0, 30_000))].map((byte) => `#${byte.toString(16).padStart(2, '0')}`).join('')}`;
const stringOf = (text: string) => `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
const stream = (entries: string, data: string) =>
  `<<${entries}/Length ${data.length}>>\nstream\n${data}\nendstream`;

/** Returns a PDF that contains a text wherever a PDF has one. */
function pdfWith(text: string): Buffer {
  const [name, string] = [nameOf(text), stringOf(text)];
  const content = `${name} ri BT /F 9 Tf (a) Tj ET ${name} gs /I Do`;
  return pdfOf([
    `<</Type/Catalog/Pages 2 0 R/Lang ${string}/Names<</EmbeddedFiles<</Names[${string} 8 0 R]>>>>/Outlines 9 0 R/PageLabels<</Nums[0<</P ${string}>>]>>/AcroForm<</Fields[7 0 R]>>/OCProperties<</OCGs[11 0 R]/D<</OFF[11 0 R]/Order[11 0 R]>>>>/Collection<</D ${string}>>>>`,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</I 13 0 R>>>>/Annots[6 0 R 7 0 R]>>`,
    stream('', content),
    `<</Type/Font/Subtype/TrueType/BaseFont${name}/Encoding${name}>>`,
    `<</Type/Annot/Subtype${name}/Contents ${string}/Rect[0 0 9 9]/A<</S${name}/URI ${string}>>>>`,
    `<</Type/Annot/Subtype/Widget/FT${name}/T ${string}/V ${string}/DA ${string}/Rect[0 0 9 9]>>`,
    `<</Type/Filespec/F ${string}/UF ${string}/Desc ${string}/AFRelationship${name}/EF<</F 12 0 R>>>>`,
    '<</First 10 0 R/Last 10 0 R/Count 1>>',
    `<</Title ${string}/Parent 9 0 R/Dest ${string}>>`,
    `<</Type/OCG/Name ${string}>>`,
    stream(`/Type/EmbeddedFile/Subtype${name}`, 'x'),
    stream(`/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace${name}/Filter${name}`, 'x'),
  ]);
}

const CALLS = [
  ['pdf', ''],
  ['pdf', '--pdf-version=PDF/A-2b'],
  ['pdf', '--pdf-version=PDF/A-3b -force'],
  ['pdf', '-flatten -gray'],
  ['pdf', '-optimize=72'],
  ['png', ''],
  ['txt', ''],
  ['json', ''],
  ['zip', '-attachments'],
] as const;

it.each(Object.entries(TEXTS))(
  'keeps %s of a document out of headers, and bounds errors and lines of the log',
  async (_, text) => {
    const source = pdfWith(text);
    const found: string[] = [];
    const lines: string[] = [];
    const log = createLog((line) => lines.push(line), { format: 'pretty' });

    for (const [format, options] of CALLS) {
      const sent = await convert(source, { format, options }).then(
        ({ warnings }) => ({ ok: true, objectKeys: [], warnings }),
        (thrown: unknown) => {
          log('failed', { cause: tell(thrown) });
          return { ok: false, error: ConversionError.from(thrown).toReport() };
        },
      );
      const result = readResult(sent);
      const texts = result.ok
        ? (result.warnings ?? [])
        : [result.error, ...(result.error.issues ?? [])].map(({ message }) => message);
      const isFine = (each: string) =>
        result.ok
          ? /^[ -~]{0,200}$/.test(each)
          : each.length <= 5000 && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(each);
      const wrong = texts.filter((each) => !isFine(each) || each.includes('[Output]'));
      found.push(...wrong.map((each) => `${format} ${options}: ${each.slice(0, 200)}`));
      if (texts.length > 101 || (result.ok && texts.length > 10))
        found.push(`${format} ${options}: ${texts.length}`);
    }

    expect(found).toEqual([]);
    for (const line of lines) expect(line).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,3000}$/u);
  },
);
