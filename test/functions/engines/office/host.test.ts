import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { declaredLanguage, withOwnDates } from '../../../../functions/engines/office/detect/language.ts';
import { systemLocaleOf, writeProfile } from '../../../../functions/engines/office/host.ts';
import { makeArchive } from './detect/archives.ts';

it('runs no macros of documents and follows no links', () => {
  const home = mkdtempSync(join(tmpdir(), 'profile-'));

  const profile = fileURLToPath(writeProfile(home));

  const settings = readFileSync(join(profile, 'user/registrymodifications.xcu'), 'utf8');
  rmSync(home, { recursive: true });
  const settingOf = (name: string) =>
    new RegExp(`oor:name="${name}"[^>]*><value>(\\w+)<`).exec(settings)?.[1];
  expect(settingOf('MacroSecurityLevel')).toBe('3');
  expect(settingOf('BlockUntrustedRefererLinks')).toBe('true');
});

it.each([
  ['de', 'de_DE'],
  ['de-AT', 'de_AT'],
  ['zh-Hant', 'zh_TW'],
  ['pt-BR', 'pt_BR'],
  ['sr-Latn-RS', 'sr_RS'],
  ['tlh', undefined],
  ['../../etc', undefined],
  ['x'.repeat(30), undefined],
])('calls %s %s', (tag, name) => {
  expect(systemLocaleOf(tag)).toBe(name);
});

const archive = (name: string, content: string) => makeArchive([{ name, content }]);

it.each([
  [
    'odt',
    archive(
      'styles.xml',
      '<style:default-style style:family="paragraph"><style:text-properties fo:language="de" fo:country="CH"/>',
    ),
    'de-CH',
  ],
  [
    'fodt',
    Buffer.from(
      '<office:document><style:default-style style:family="paragraph"><a fo:language="ja" fo:country="JP"/>',
    ),
    'ja-JP',
  ],
  [
    'odt',
    archive(
      'styles.xml',
      '<style:default-style style:family="paragraph"><a fo:language="none" fo:country="none"/>',
    ),
    undefined,
  ],
  [
    'docx',
    archive('word/styles.xml', '<w:docDefaults><w:rPr><w:lang w:val="fr-FR" w:eastAsia="ja-JP"/>'),
    'fr-FR',
  ],
  ['pptx', archive('ppt/slides/slide1.xml', '<p:sld><a:p><a:r><a:rPr lang="it-IT" dirty="0"/>'), 'it-IT'],
  ['rtf', Buffer.from('{\\rtf1\\ansi\\deflang2055 Text}'), 'de-CH'],
  ['rtf', Buffer.from('{\\rtf1\\ansi\\deflang1036 Text}'), 'fr-FR'],
  ['html', Buffer.from('<!doctype html><html class=a lang=es><p>'), 'es'],
  ['xlsx', archive('xl/workbook.xml', '<workbook/>'), undefined],
  ['docx', archive('word/styles.xml', '<w:styles/>'), undefined],
] as const)('reads the language that a document of kind %s declares', async (kind, bytes, language) => {
  expect(await declaredLanguage(kind, bytes)).toBe(language);
});

it('keeps the order of a date that its author saw, and all other bytes', async () => {
  const style = (attributes: string) =>
    `<number:date-style style:name="N1"${attributes}><number:day/></number:date-style>\xff`;
  const reader = style(' number:automatic-order="true" number:format-source="language"');
  const fixed = style(' number:automatic-order="true"');

  expect((await withOwnDates(Buffer.from(reader + fixed, 'latin1')))?.toString('latin1')).toBe(
    style('') + fixed,
  );
  expect(await withOwnDates(Buffer.from(fixed, 'latin1'))).toBeUndefined();
});
