import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { readLayout } from '../../likeness/word.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGED = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** A document in the font "Shared", which it may contain. */
function inShared(font?: Buffer): Buffer {
  const body =
    '<w:p><w:r><w:rPr><w:rFonts w:ascii="Shared" w:hAnsi="Shared"/></w:rPr><w:t>shared words</w:t></w:r></w:p>';
  if (!font) return makeDocx({ body });
  const names = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}"`;
  // A key of zeros leaves the font as it is.
  const key = '{00000000-0000-0000-0000-000000000000}';
  const relationship = (type: string, target: string) =>
    `<Relationship Id="f1" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`;
  return makeDocx({
    body,
    relationships: relationship('fontTable', 'fontTable.xml'),
    more: [
      {
        name: 'word/fontTable.xml',
        content: `<w:fonts ${names}><w:font w:name="Shared"><w:embedRegular r:id="f1" w:fontKey="${key}"/></w:font></w:fonts>`,
      },
      {
        name: 'word/_rels/fontTable.xml.rels',
        content: `<Relationships xmlns="${PACKAGED}">${relationship('font', 'fonts/font1.odttf')}</Relationships>`,
      },
      { name: 'word/fonts/font1.odttf', content: font },
    ],
  });
}

it('uses a font that a document contains for no other document', async () => {
  const mono = await readFile(resolve('dist/layers/fonts/faces/LiberationMono-Regular.ttf'));
  const fontsOf = async (source: Buffer) => {
    const { fonts } = await readLayout(await convertOne(source, { format: 'pdf' }));
    return [...fonts.keys()].join(' ');
  };

  const before = await fontsOf(inShared());
  const own = await fontsOf(inShared(mono));
  const after = await fontsOf(inShared());

  expect(own).toContain('LiberationMono');
  expect(before).not.toContain('LiberationMono');
  expect(after).toBe(before);
});
