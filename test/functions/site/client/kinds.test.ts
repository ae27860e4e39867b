import { expect, it } from 'vitest';
import { readOutputName } from '../../../../functions/shared/output-name.ts';
import type { Tool } from '../../../../functions/shared/tool.ts';
import {
  kindOf,
  readUrl,
  resultName,
  TARGETS,
  type TargetId,
  targetsFor,
} from '../../../../functions/site/client/kinds.ts';
import { FRONT, LANGUAGES, languageOf, optionLabel } from '../../../../functions/site/front-texts.ts';
import * as tools from '../../../../functions/tools.ts';

it.each([
  ['%PDF-1.7', 'a.docx', 'pdf', 'pages'],
  ['PK\x03\x04', 'a.xlsx', 'calc', 'pdfWide'],
  ['{\\rtf1', 'a', 'writer', 'pdf'],
  ['\xff\xd8\xff', 'a.jpg', 'image', 'smaller'],
  ['<svg>', 'a.svg', 'svg', 'picture'],
  ['<html>', 'a.html', 'page', 'pdf'],
  ['PK\x03\x04', 'a.zip', 'zip', 'pdf'],
  ['\0\x01', 'a.bin', 'other', 'pdf'],
])('offers for %j named %s, which is %s, first %s', (head, name, kind, first) => {
  const found = kindOf({ head, name, contentType: '' });

  expect(found).toBe(kind);
  expect(targetsFor(found, name)[0]).toBe(first);
});

it('names each result after its source, as the service accepts it', () => {
  const names = [
    'letter.docx',
    'Ü & (1).pdf',
    '..hidden',
    '50 % off.%d.png',
    `${'x'.repeat(300)}.pdf`,
    '日本.txt',
  ];

  for (const name of names)
    for (const id of Object.keys(TARGETS) as TargetId[])
      expect(() => readOutputName(resultName(name, id))).not.toThrow();
  expect(resultName('letter.docx', 'pdf')).toBe('letter.pdf');
});

it.each([
  ['example.com', 'https://example.com/'],
  [' http://example.com/a b ', undefined],
  ['HTTP://example.com/a', 'http://example.com/a'],
  ['ftp://example.com', undefined],
  ['javascript:alert(1)', undefined],
  ['report', undefined],
])('reads the address %j as %s', (text, href) => {
  expect(readUrl(text)?.href).toBe(href);
});

it("names every option of the list in a person's words, in each language", () => {
  const names = Object.values<Tool>(tools).flatMap(({ common = [] }) => common);

  for (const language of LANGUAGES) expect(names.filter((name) => !optionLabel(name, language))).toEqual([]);
});

it('has texts for every target and kind in each language, which the browser chooses', () => {
  for (const { targets, kinds } of Object.values(FRONT))
    for (const text of [...Object.values(targets), ...Object.values(kinds)]) expect(text).not.toBe('');

  expect(['fr-CA,fr;q=0.8', 'xx, de', 'ja', '', '<script>'].map(languageOf)).toEqual([
    'fr',
    'de',
    'en',
    'en',
    'en',
  ]);
});
