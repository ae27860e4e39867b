import {
  files,
  type LeakFile,
  type Link,
  ODF_LEAKS,
  type Part,
  PIXEL,
  pack,
  quoted,
  RELS,
  relations,
  SHEET,
  SIZE,
  SLIDE,
  type Target,
  TEXT_LEAKS,
  types,
  WORD,
} from './office.ts';

interface Word {
  readonly body: string;
  readonly links: readonly Link[];
  readonly parts?: Readonly<Record<string, Part>>;
  readonly types?: Readonly<Record<string, string>>;
}

function docx({ body, links, parts = {}, types: more = {} }: Word): Promise<Buffer> {
  return pack({
    '[Content_Types].xml': types({ 'word/document.xml': 'wordprocessingml.document.main', ...more }),
    '_rels/.rels': relations(['d', 'officeDocument', 'word/document.xml', 'Internal']),
    'word/document.xml': `<?xml version="1.0"?><w:document ${WORD}><w:body><w:p><w:r><w:t>text</w:t></w:r></w:p>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(...links),
    ...parts,
  });
}

/** More than the depth of any directory. */
const UP = './'.repeat(20);
const run = (inner: string) => `<w:p><w:r>${inner}</w:r></w:p>`;
const picture = (attribute: string) =>
  run(
    `<w:drawing><wp:inline><wp:extent cx="999999" cy="999999"/><wp:docPr id="1" name="x"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip ${attribute}="x"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/>${SIZE}</a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`,
  );
const field = (code: string) =>
  `<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> ${quoted(code)} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>old</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`;
const shape = (inner: string) =>
  run(`<w:pict><v:shape style="width:99pt;height:99pt" o:spid="_1">${inner}</v:shape></w:pict>`);
const settings = (inner: string, link: Link): Word => ({
  body: '',
  links: [['s', 'settings', 'settings.xml', 'Internal']],
  parts: {
    'word/settings.xml': `<?xml version="1.0"?><w:settings ${WORD}>${inner}</w:settings>`,
    'word/_rels/settings.xml.rels': relations(link),
  },
  types: { 'word/settings.xml': 'wordprocessingml.settings' },
});

const DOCX: Readonly<Record<string, (target: Target) => Word>> = {
  'linked picture': ({ url }) => ({ body: picture('r:link'), links: [['x', 'image', url]] }),
  'embedded picture elsewhere': ({ url }) => ({ body: picture('r:embed'), links: [['x', 'image', url]] }),
  'picture of a share': ({ path }) => ({ body: picture('r:link'), links: [['x', 'image', path]] }),
  'vml picture': ({ url }) => ({ body: shape('<v:imagedata r:id="x"/>'), links: [['x', 'image', url]] }),
  'vml picture by address': ({ url }) => ({
    body: shape(`<v:imagedata src="${quoted(url)}" o:href="${quoted(url)}"/>`),
    links: [],
  }),
  'vml fill': ({ url }) => ({ body: shape('<v:fill type="frame" r:id="x"/>'), links: [['x', 'image', url]] }),
  'picture field': ({ url }) => ({ body: field(`INCLUDEPICTURE "${url}" \\d`), links: [] }),
  'text field': ({ url }) => ({ body: field(`INCLUDETEXT "${url}"`), links: [] }),
  'dde field': ({ path }) => ({ body: field(`DDEAUTO soffice "${path}" x`), links: [] }),
  'link field': ({ url }) => ({ body: field(`LINK Word.Document.12 "${url}" x \\a`), links: [] }),
  'database field': ({ url }) => ({ body: field(`DATABASE \\d "${url}" \\s "select 1"`), links: [] }),
  'foreign part': ({ url }) => ({ body: '<w:altChunk r:id="x"/>', links: [['x', 'aFChunk', url]] }),
  'document inside': ({ url }) => ({
    body: '<w:p><w:subDoc r:id="x"/></w:p>',
    links: [['x', 'subDocument', url]],
  }),
  'linked object': ({ url }) => ({
    body: run(
      '<w:object w:dxaOrig="999" w:dyaOrig="999"><v:shape id="s" style="width:99pt;height:99pt"/><o:OLEObject Type="Link" ProgID="Word.Document.12" ShapeID="s" DrawAspect="Content" r:id="x" UpdateMode="Always"/></w:object>',
    ),
    links: [['x', 'oleObject', url]],
  }),
  template: ({ url }) =>
    settings('<w:attachedTemplate r:id="x"/><w:linkStyles/>', ['x', 'attachedTemplate', url]),
  'mail merge': ({ url }) =>
    settings(
      '<w:mailMerge><w:mainDocumentType w:val="formLetters"/><w:dataType w:val="textFile"/><w:dataSource r:id="x"/></w:mailMerge>',
      ['x', 'mailMergeSource', url],
    ),
  'styles elsewhere': ({ url }) => ({ body: '', links: [['x', 'styles', url]] }),
  'theme elsewhere': ({ url }) => ({ body: '', links: [['x', 'theme', url]] }),
  'header elsewhere': ({ url }) => ({
    body: '<w:sectPr><w:headerReference w:type="default" r:id="x"/></w:sectPr>',
    links: [['x', 'header', url]],
  }),
  'font elsewhere': ({ url }) => ({
    body: '',
    links: [['f', 'fontTable', 'fontTable.xml', 'Internal']],
    parts: {
      'word/fontTable.xml': `<?xml version="1.0"?><w:fonts ${WORD}><w:font w:name="Leak"><w:embedRegular r:id="x" w:fontKey="{00000000-0000-0000-0000-000000000000}"/></w:font></w:fonts>`,
      'word/_rels/fontTable.xml.rels': relations(['x', 'font', url]),
    },
    types: { 'word/fontTable.xml': 'wordprocessingml.fontTable' },
  }),
  'svg picture that points on': ({ url }) => ({
    body: picture('r:embed'),
    links: [['x', 'image', 'media/x.svg', 'Internal']],
    parts: {
      'word/media/x.svg': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99"><style>@import url("${url}");</style><image width="99" height="99" xlink:href="${quoted(url)}"/><use xlink:href="${quoted(url)}#x"/></svg>`,
    },
  }),
  'picture by a path that leaves the archive': ({ path }) => ({
    body: picture('r:embed'),
    links: [['x', 'image', `${UP}${path}`, 'Internal']],
  }),
  'part that leaves the archive': ({ path }) => ({
    body: picture('r:embed'),
    links: [['x', 'image', `${UP}${path}`, 'Internal']],
    parts: { [`word/${UP}${path.replace(/^[\\/]+/, '').replaceAll('\\', '/')}`]: PIXEL },
  }),
  'picture that is a symbolic link': ({ path }) => ({
    body: picture('r:embed'),
    links: [['x', 'image', 'media/x.png', 'Internal']],
    parts: { 'word/media/x.png': { linkTo: path } },
  }),
  'external entity': ({ url }) => ({
    body: '',
    links: [['s', 'settings', 'settings.xml', 'Internal']],
    parts: {
      'word/settings.xml': `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "${url}">]><w:settings ${WORD}>&e;</w:settings>`,
    },
    types: { 'word/settings.xml': 'wordprocessingml.settings' },
  }),
};

/** Word documents with external references. */
const WORD_LEAKS: readonly LeakFile[] = files('docx', DOCX, docx);

interface Book {
  readonly sheet?: string;
  readonly book?: string;
  readonly sheetLinks?: readonly Link[];
  readonly bookLinks?: readonly Link[];
  readonly parts?: Readonly<Record<string, string>>;
  readonly types?: Readonly<Record<string, string>>;
}

function xlsx({
  sheet = '<sheetData/>',
  book = '',
  sheetLinks = [],
  bookLinks = [],
  parts = {},
  types: more = {},
}: Book) {
  return pack({
    '[Content_Types].xml': types({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      ...more,
    }),
    '_rels/.rels': relations(['d', 'officeDocument', 'xl/workbook.xml', 'Internal']),
    'xl/workbook.xml': `<?xml version="1.0"?><workbook ${SHEET}><sheets><sheet name="S" sheetId="1" r:id="s"/></sheets>${book}<calcPr fullCalcOnLoad="1"/></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ['s', 'worksheet', 'worksheets/sheet1.xml', 'Internal'],
      ...bookLinks,
    ),
    'xl/worksheets/sheet1.xml': `<?xml version="1.0"?><worksheet ${SHEET}>${sheet}</worksheet>`,
    'xl/worksheets/_rels/sheet1.xml.rels': relations(...sheetLinks),
    ...parts,
  });
}

const formula = (text: string) =>
  `<sheetData><row r="1"><c r="A1" t="str"><f>${quoted(text)}</f></c></row></sheetData>`;
const linkedBook = (inner: string, link: Link): Book => ({
  sheet: formula('[1]S!A1'),
  book: '<externalReferences><externalReference r:id="e"/></externalReferences>',
  bookLinks: [['e', 'externalLink', 'externalLinks/externalLink1.xml', 'Internal']],
  parts: {
    'xl/externalLinks/externalLink1.xml': `<?xml version="1.0"?><externalLink ${SHEET}>${inner}</externalLink>`,
    'xl/externalLinks/_rels/externalLink1.xml.rels': relations(link),
  },
  types: { 'xl/externalLinks/externalLink1.xml': 'spreadsheetml.externalLink' },
});

const XLSX: Readonly<Record<string, (target: Target) => Book>> = {
  'linked book': ({ url }) =>
    linkedBook('<externalBook r:id="x"><sheetNames><sheetName val="S"/></sheetNames></externalBook>', [
      'x',
      'externalLinkPath',
      url,
    ]),
  'linked object': ({ url }) =>
    linkedBook(
      '<oleLink r:id="x" progId="Word.Document"><oleItems><oleItem name="x" advise="1"/></oleItems></oleLink>',
      ['x', 'oleObject', url],
    ),
  dde: ({ path }) =>
    linkedBook(
      `<ddeLink ddeService="soffice" ddeTopic="${quoted(path)}"><ddeItems><ddeItem name="x" advise="1"/></ddeItems></ddeLink>`,
      ['x', 'none', 'x'],
    ),
  'web service': ({ url }) => ({ sheet: formula(`WEBSERVICE("${url}")`) }),
  'reference by address': ({ url }) => ({ sheet: formula(`'${url}'#$S.A1`) }),
  'indirect reference': ({ url }) => ({ sheet: formula(`INDIRECT("'${url}'#$S.A1")`) }),
  'dde formula': ({ path }) => ({ sheet: formula(`DDE("soffice","${path}","S.A1")`) }),
  background: ({ url }) => ({ sheet: '<sheetData/><picture r:id="x"/>', sheetLinks: [['x', 'image', url]] }),
  'linked picture': ({ url }) => ({
    sheet: '<sheetData/><drawing r:id="d"/>',
    sheetLinks: [['d', 'drawing', '../drawings/drawing1.xml', 'Internal']],
    parts: {
      'xl/drawings/drawing1.xml': `<?xml version="1.0"?><x:wsDr xmlns:x="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${RELS}"><x:absoluteAnchor><x:pos x="0" y="0"/><x:ext cx="999999" cy="999999"/><x:pic><x:nvPicPr><x:cNvPr id="1" name="x"/><x:cNvPicPr/></x:nvPicPr><x:blipFill><a:blip r:link="x"/></x:blipFill><x:spPr><a:xfrm><a:off x="0" y="0"/>${SIZE}</a:xfrm><a:prstGeom prst="rect"/></x:spPr></x:pic><x:clientData/></x:absoluteAnchor></x:wsDr>`,
      'xl/drawings/_rels/drawing1.xml.rels': relations(['x', 'image', url]),
    },
    types: { 'xl/drawings/drawing1.xml': 'drawing' },
  }),
  'web query': ({ url }) => ({
    bookLinks: [['c', 'connections', 'connections.xml', 'Internal']],
    parts: {
      'xl/connections.xml': `<?xml version="1.0"?><connections ${SHEET}><connection id="1" name="c" type="4" refreshOnLoad="1"><webPr url="${quoted(url)}" htmlTables="1"/></connection></connections>`,
      'xl/queryTables/queryTable1.xml': `<?xml version="1.0"?><queryTable ${SHEET} name="q" connectionId="1" refreshOnLoad="1"/>`,
    },
    sheetLinks: [['q', 'queryTable', '../queryTables/queryTable1.xml', 'Internal']],
    types: {
      'xl/connections.xml': 'spreadsheetml.connections',
      'xl/queryTables/queryTable1.xml': 'spreadsheetml.queryTable',
    },
  }),
};

/** Excel documents with external references. */
const EXCEL_LEAKS: readonly LeakFile[] = files('xlsx', XLSX, xlsx);

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
const POWERPOINT_LEAKS: readonly LeakFile[] = files('pptx', PPTX, pptx);

/** Each is put before an archive, which programs find by its end. */
const HEADS: ReadonlyArray<readonly [name: string, head: (target: Target) => string]> = [
  ['a PDF', () => '%PDF-1.7\n1 0 obj<<>>endobj\n'],
  ['a GIF', () => 'GIF89a\x01\0\x01\0\0\0\0;'],
  ['a web page', ({ url }) => `<!doctype html><img src="${url}"><!--`],
  ['an RTF document', ({ url }) => `{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE "${url}"}}}`],
];

/** Documents that are also files of another format, so that two programs may see different things in them. */
const POLYGLOT_LEAKS: readonly LeakFile[] = HEADS.flatMap(([name, head]) =>
  [WORD_LEAKS[0]!, EXCEL_LEAKS[0]!, ODF_LEAKS[0]!].map((leak) => ({
    name: `${leak.name} after ${name}`,
    extension: leak.extension,
    bytes: async (target) => Buffer.concat([Buffer.from(head(target), 'latin1'), await leak.bytes(target)]),
  })),
);

/** All documents with external references. */
export const LEAK_FILES: readonly LeakFile[] = [
  ...WORD_LEAKS,
  ...EXCEL_LEAKS,
  ...POWERPOINT_LEAKS,
  ...ODF_LEAKS,
  ...TEXT_LEAKS,
  ...POLYGLOT_LEAKS,
];
