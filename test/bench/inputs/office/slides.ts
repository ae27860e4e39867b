import { sentence, word } from '../../../fixtures/words.ts';
import { randomNumbers } from '../../../helpers/random.ts';

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const SPACES =
  `xmlns:a="${DRAWING}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"';
const TREE = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';

const PICTURE =
  '<p:pic><p:nvPicPr><p:cNvPr id="40" name="Picture"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="5600000" y="2600000"/><a:ext cx="3000000" cy="2250000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>';

type Relations = (list: ReadonlyArray<readonly [id: string, type: string, target: string]>) => string;

/**
 * The parts of a presentation: a master, a layout, a theme, and slides with a title, a list, colored shapes
 * and a picture.
 */
export function slideParts(
  count: number,
  relations: Relations,
  pictures: readonly Buffer[],
): Readonly<Record<string, string | Buffer>> {
  const random = randomNumbers(count);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const ids = numbers.map((number) => `<p:sldId id="${255 + number}" r:id="rId${number + 1}"/>`).join('');
  const parts: Record<string, string | Buffer> = {
    'ppt/presentation.xml': `<p:presentation ${SPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations([
      ['rId1', 'slideMaster', 'slideMasters/slideMaster1.xml'],
      ...numbers.map((number) => [`rId${number + 1}`, 'slide', `slides/slide${number}.xml`] as const),
    ]),
    'ppt/slideMasters/slideMaster1.xml': `<p:sldMaster ${SPACES}><p:cSld><p:spTree>${TREE}</p:spTree></p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
    'ppt/slideMasters/_rels/slideMaster1.xml.rels': relations([
      ['rId1', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
      ['rId2', 'theme', '../theme/theme1.xml'],
    ]),
    'ppt/slideLayouts/slideLayout1.xml': `<p:sldLayout ${SPACES}><p:cSld><p:spTree>${TREE}</p:spTree></p:cSld></p:sldLayout>`,
    'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relations([
      ['rId1', 'slideMaster', '../slideMasters/slideMaster1.xml'],
    ]),
    'ppt/theme/theme1.xml': theme(),
  };
  for (const [index, bytes] of pictures.entries()) parts[`ppt/media/picture${index}.jpg`] = bytes;
  for (const number of numbers) {
    const content = `${shapes(random)}${pictures.length > 0 ? PICTURE : ''}`;
    parts[`ppt/slides/slide${number}.xml`] =
      `<p:sld ${SPACES}><p:cSld><p:spTree>${TREE}${content}</p:spTree></p:cSld></p:sld>`;
    parts[`ppt/slides/_rels/slide${number}.xml.rels`] = relations([
      ['rId1', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
      ...(pictures.length > 0
        ? [['rId2', 'image', `../media/picture${number % pictures.length}.jpg`] as const]
        : []),
    ]);
  }
  return parts;
}

function shapes(random: () => number): string {
  const lines = Array.from({ length: 6 }, () => sentence(random));
  const bars = Array.from({ length: 6 }, (_, index) => {
    const height = Math.round(300_000 + random() * 1_200_000);
    const color = Math.floor(random() * 0xffffff)
      .toString(16)
      .padStart(6, '0');
    return shape(10 + index, [800_000 + index * 1_300_000, 6_500_000 - height, 900_000, height], '', color);
  });
  return [
    shape(2, [500_000, 300_000, 8_100_000, 900_000], text([`${word(random)} ${word(random)}`], 3600)),
    shape(3, [500_000, 1_300_000, 8_100_000, 3_400_000], text(lines, 1600)),
    ...bars,
  ].join('');
}

function shape(id: number, [x, y, width, height]: readonly number[], words: string, color?: string): string {
  const fill = color ? `<a:solidFill><a:srgbClr val="${color}"/></a:solidFill>` : '<a:noFill/>';
  return `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="Shape ${id}"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="${x}" y="${y}"/><a:ext cx="${width}" cy="${height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>${fill}</p:spPr><p:txBody><a:bodyPr/>${words || '<a:p/>'}</p:txBody></p:sp>`;
}

function text(lines: readonly string[], size: number): string {
  return lines
    .map((line) => `<a:p><a:r><a:rPr lang="en-GB" sz="${size}"/><a:t>${line}</a:t></a:r></a:p>`)
    .join('');
}

function theme(): string {
  const names = 'dk1 lt1 dk2 lt2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink'.split(' ');
  const values = '000000 FFFFFF 1F497D EEECE1 4F81BD C0504D 9BBB59 8064A2 4BACC6 F79646 0000FF 800080'.split(
    ' ',
  );
  const colors = names
    .map((name, index) => `<a:${name}><a:srgbClr val="${values[index]}"/></a:${name}>`)
    .join('');
  const face = '<a:latin typeface="Liberation Sans"/><a:ea typeface=""/><a:cs typeface=""/>';
  const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
  const stroke = `<a:ln w="9525">${fill}</a:ln>`;
  const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>';
  return `<a:theme xmlns:a="${DRAWING}" name="Plain"><a:themeElements><a:clrScheme name="Plain">${colors}</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${face}</a:majorFont><a:minorFont>${face}</a:minorFont></a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>${fill.repeat(3)}</a:fillStyleLst><a:lnStyleLst>${stroke.repeat(3)}</a:lnStyleLst><a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`;
}
