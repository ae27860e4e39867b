import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { noisyPhoto } from '../../fixtures/image.ts';
import { useEngine } from '../conversion.ts';
import { drawing, makeDocx, makeXlsx } from '../engines/office/detect/archives.ts';
import { casesOf, effectCheck } from '../option-effects.ts';
import { DRAWN, SAMPLES } from './option-samples.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));
const IMAGE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image';
// Made once, because the noise is random.
const photo = await noisyPhoto(900, 900).jpeg({ quality: 100 }).toBuffer();
const by = 'w:id="1" w:author="Ada" w:date="2026-01-02T03:04:05Z"';

const SOURCES: Readonly<Record<string, () => Promise<Buffer> | Buffer>> = {
  'photo.docx': () =>
    makeDocx({
      body: drawing('r:embed="here"'),
      relationships: `<Relationship Id="here" Type="${IMAGE}" Target="media/a.jpeg"/>`,
      more: [{ name: 'word/media/a.jpeg', content: photo }],
    }),
  'changed.docx': () =>
    makeDocx({
      body: `<w:p><w:ins ${by}><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:t>stays</w:t></w:r></w:p>`,
    }),
  'form.docx': () =>
    makeDocx({
      body: '<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>field</w:t></w:r></w:p></w:sdtContent></w:sdt>',
    }),
  'wide.xlsx': () =>
    makeXlsx(
      `<row r="1">${Array.from({ length: 20 }, (_, at) => `<c r="${String.fromCharCode(65 + at)}1"><v>${at}</v></c>`).join('')}</row>`,
    ),
  'date.xlsx': () =>
    makeXlsx('<row r="1"><c r="A1" s="0"><v>45265</v></c></row>', {
      formats: [14],
      more: '<mergeCells count="1"><mergeCell ref="A1:C1"/></mergeCells>',
    }),
  'numbers.csv': () => Buffer.from('01;02\n'),
  'cells.csv': () => Buffer.from('\xe4;b;c\nd;e;f\n', 'latin1'),
};

/** Kinds of which each format has a source that LibreOffice opens in the module that writes it. */
const DEFAULT_SOURCES: Readonly<Record<string, string>> = {
  xlsx: 'sheet.xlsx',
  ods: 'sheet.xlsx',
  csv: 'sheet.xlsx',
  pptx: 'slides.pptx',
  odp: 'slides.pptx',
};

const checkEffects = effectCheck(doc2any, async (given, named, format) => {
  const name = named ?? DEFAULT_SOURCES[format] ?? 'text.docx';
  const bytes = await (SOURCES[name]?.() ?? fixture(name));
  const options = given.map((pair) => `${pair.name}=${pair.value}`).join(' ');
  return convertOne(bytes, { format, name, options });
});

it.each(casesOf(doc2any, SAMPLES, DRAWN))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
