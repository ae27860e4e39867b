import { type LeakFile, pack, type Target } from './archive.ts';
import { files, type Link, relations, SIZE, SLIDE, types } from './package.ts';

interface Deck {
  readonly slide: string;
  readonly links: readonly Link[];
}

function pptx({ slide, links }: Deck): Promise<Buffer> {
  return pack({
    '[Content_Types].xml': types({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slides/slide1.xml': 'presentationml.slide',
    }),
    '_rels/.rels': relations(['d', 'officeDocument', 'ppt/presentation.xml', 'Internal']),
    'ppt/presentation.xml': `<?xml version="1.0"?><p:presentation ${SLIDE}><p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(['s', 'slide', 'slides/slide1.xml', 'Internal']),
    'ppt/slides/slide1.xml': `<?xml version="1.0"?><p:sld ${SLIDE}><p:cSld>${slide}</p:cSld></p:sld>`,
    'ppt/slides/_rels/slide1.xml.rels': relations(...links),
  });
}

const tree = (inner: string) =>
  `<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${inner}</p:spTree>`;
const slidePicture = (blip: string, media = '') =>
  tree(
    `<p:pic><p:nvPicPr><p:cNvPr id="2" name="x"/><p:cNvPicPr/><p:nvPr>${media}</p:nvPr></p:nvPicPr><p:blipFill>${blip}</p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/>${SIZE}</a:xfrm><a:prstGeom prst="rect"/></p:spPr></p:pic>`,
  );

const PPTX: Readonly<Record<string, (target: Target) => Deck>> = {
  'linked picture': ({ url }) => ({
    slide: slidePicture('<a:blip r:link="x"/>'),
    links: [['x', 'image', url]],
  }),
  'embedded picture elsewhere': ({ url }) => ({
    slide: slidePicture('<a:blip r:embed="x"/>'),
    links: [['x', 'image', url]],
  }),
  film: ({ url }) => ({
    slide: slidePicture('<a:blip/>', '<a:videoFile r:link="x"/>'),
    links: [['x', 'video', url]],
  }),
  sound: ({ url }) => ({
    slide: slidePicture('<a:blip/>', '<a:audioFile r:link="x"/>'),
    links: [['x', 'audio', url]],
  }),
  background: ({ url }) => ({
    slide: `<p:bg><p:bgPr><a:blipFill><a:blip r:link="x"/><a:stretch/></a:blipFill></p:bgPr></p:bg>${tree('')}`,
    links: [['x', 'image', url]],
  }),
  'layout elsewhere': ({ url }) => ({ slide: tree(''), links: [['x', 'slideLayout', url]] }),
  'linked object': ({ url }) => ({
    slide: tree(
      `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="2" name="x"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/>${SIZE}</p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="x" r:id="x" progId="Word.Document.12"><p:link updateAutomatic="1"/></p:oleObj></a:graphicData></a:graphic></p:graphicFrame>`,
    ),
    links: [['x', 'oleObject', url]],
  }),
};

/** PowerPoint presentations with external references. */
export const POWERPOINT_LEAKS: readonly LeakFile[] = files('pptx', PPTX, pptx);
