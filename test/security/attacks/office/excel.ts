import { type LeakFile, pack, quoted, type Target } from './archive.ts';
import { files, type Link, RELS, relations, SHEET, SIZE, types } from './package.ts';

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
export const EXCEL_LEAKS: readonly LeakFile[] = files('xlsx', XLSX, xlsx);
