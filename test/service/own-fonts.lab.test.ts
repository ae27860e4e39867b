import { mkdtempSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { unpackPackages } from '../../layers/debian/apt.ts';
import { writeFontCaches } from '../../layers/fonts/build.ts';
import { addOwnFonts, findOwnFonts } from '../../layers/fonts/own-fonts.ts';
import { ownService } from '../lab/service.ts';
import { useService } from './use-service.ts';

const DIST = join(import.meta.dirname, '../../dist');
/** As long as the name of the font that gets it. */
const FAMILY = 'Docmill Squares';
/** Wide in a font whose characters all have the same width, and narrow in the substitutes of unknown fonts. */
const TEXT = 'iiiiiiii';

const root = mkdtempSync(join(tmpdir(), 'own-fonts-'));
const layers = join(root, 'layers');
const page = `<p style="font: 40px '${FAMILY}'; margin: 20px">${TEXT}`;
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 100]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>endobj
4 0 obj<</Type/Font/Subtype/TrueType/BaseFont/${FAMILY.replace(' ', '#20')}/Encoding/WinAnsiEncoding>>endobj
5 0 obj<</Length 44>>stream
BT /F 40 Tf 20 30 Td (${TEXT}) Tj ET
endstream endobj trailer<</Root 1 0 R>>`;
const fodt = `<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
  office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>
  <style:style style:name="P" style:family="paragraph"><style:text-properties fo:font-family="${FAMILY}" fo:font-size="40pt"/></style:style>
  </office:automatic-styles><office:body><office:text><text:p text:style-name="P">${TEXT}</text:p></office:text></office:body></office:document>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100"><rect width="400" height="100" fill="#fff"/>
  <text x="20" y="60" font-size="40" font-family="${FAMILY}">${TEXT}</text></svg>`;

describe.runIf(ownService)('a font in the folder of FONTS', () => {
  const used = useService(
    async () => {
      await addFont();
      return { 'a.pdf': pdf, 'a.html': page, 'a.fodt': fodt, 'a.svg': svg };
    },
    { TEST_LAYERS: layers },
  );
  afterAll(() => rm(root, { recursive: true }));

  it.each([
    ['pdftools', 'a.pdf'],
    ['html2image', 'a.html'],
    ['doc2any', 'a.fodt'],
    ['imageproc', 'a.svg'],
  ])('is drawn by %s', async (app, source) => {
    const infile = used().sources.urlOf(source);
    const { bytes } = await used().client.convert({ app, infile, outfile: 'a.png' });

    const { info } = await sharp(bytes)
      .flatten({ background: '#fff' })
      .trim({ threshold: 100 })
      .toBuffer({ resolveWithObject: true });
    expect(info.width / info.height).toBeGreaterThan(5);
  });

  it('is embedded by html2pdf', async () => {
    const infile = used().sources.urlOf('a.html');
    const { bytes } = await used().client.convert({ app: 'html2pdf', infile, outfile: 'a.pdf' });

    expect(bytes.toString('latin1')).toContain('+DocmillSquares');
  });
});

/** Makes layers whose fonts contain one that only they have, as a build with `FONTS` does. */
async function addFont(): Promise<void> {
  await mkdir(layers);
  await symlink(join(DIST, 'site'), join(root, 'site'));
  for (const name of await readdir(join(DIST, 'layers')))
    if (name !== 'fonts') await symlink(join(DIST, 'layers', name), join(layers, name));
  const fonts = join(layers, 'fonts');
  await cp(join(DIST, 'layers/fonts'), fonts, { recursive: true });
  const scratch = join(root, 'scratch');
  const folder = join(scratch, 'own');
  await mkdir(folder, { recursive: true });
  const bytes = await readFile(join(fonts, 'faces/LiberationMono-Regular.ttf'));
  const renamed = ['utf16le', 'latin1'].reduce((text, encoding) => {
    const written = (name: string) => {
      const encoded = Buffer.from(name, encoding as BufferEncoding);
      return (encoding === 'utf16le' ? encoded.swap16() : encoded).toString('latin1');
    };
    return text
      .replaceAll(written('Liberation Mono'), written(FAMILY))
      .replaceAll(written('LiberationMono'), written(FAMILY.replace(' ', '')));
  }, bytes.toString('latin1'));
  await writeFile(join(folder, 'squares.ttf'), renamed, 'latin1');
  const debian = join(scratch, 'debian');
  const progress = () => undefined;
  const cache = join(DIST, 'cache/apt');
  await unpackPackages({ packages: ['fontconfig'], suite: 'trixie', into: debian, cache, progress });
  await addOwnFonts(await findOwnFonts(folder), join(fonts, 'faces'), debian);
  await rm(join(fonts, 'fontconfig'), { recursive: true });
  await writeFontCaches(fonts, { debian, chromium: join(layers, 'chromium') });
}
