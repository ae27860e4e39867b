import { makeArchive, makeDocx, type Part } from '../engines/office/detect/archives.ts';

/** A document with a link to `address` that LibreOffice would load or show. */
export interface Leak {
  readonly name: string;
  readonly extension: string;
  /** Kind of what LibreOffice would load. Documents count as text. */
  readonly loads: 'picture' | 'text';
  make(address: string): Buffer;
}

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const external = (type: string, address: string, id = 'leak') =>
  `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${address}" TargetMode="External"/>`;

/** An image of one inch, referenced by the given relationship attribute. */
export const drawing = (reference: string) =>
  '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="p"/><a:graphic>' +
  '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>' +
  '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>' +
  `<a:blip ${reference}/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/>` +
  '<a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>' +
  '</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>';

const field = (instruction: string) =>
  '<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> ' +
  `${instruction} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>alt</w:t></w:r>` +
  '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>';

const docx = (
  name: string,
  make: (address: string) => Parameters<typeof makeDocx>[0],
  loads: Leak['loads'] = 'text',
): Leak => ({
  name,
  extension: 'docx',
  loads,
  make: (address) => makeDocx(make(address)),
});

const ODF = Object.entries({
  office: 'urn:oasis:names:tc:opendocument:xmlns:office:1.0',
  text: 'urn:oasis:names:tc:opendocument:xmlns:text:1.0',
  table: 'urn:oasis:names:tc:opendocument:xmlns:table:1.0',
  draw: 'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0',
  style: 'urn:oasis:names:tc:opendocument:xmlns:style:1.0',
  svg: 'urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0',
  of: 'urn:oasis:names:tc:opendocument:xmlns:of:1.2',
  xlink: 'http://www.w3.org/1999/xlink',
})
  .map(([prefix, name]) => `xmlns:${prefix}="${name}"`)
  .join(' ');

function odf(
  name: string,
  kind: 'text' | 'spreadsheet',
  body: (address: string) => string,
  loads: Leak['loads'] = 'text',
): Leak {
  const type = `application/vnd.oasis.opendocument.${kind}`;
  return {
    name,
    extension: kind === 'text' ? 'odt' : 'ods',
    loads,
    make: (address) =>
      makeArchive([
        { name: 'mimetype', content: type },
        {
          name: 'META-INF/manifest.xml',
          content:
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3">' +
            `<manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/>` +
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
        },
        {
          name: 'content.xml',
          content:
            `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${ODF} office:version="1.3">` +
            `<office:body><office:${kind}>${body(address)}</office:${kind}></office:body></office:document-content>`,
        },
      ]),
  };
}

function xlsx(
  name: string,
  sheet: (address: string) => string,
  more: (address: string) => readonly Part[] = () => [],
): Leak {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  return {
    name,
    extension: 'xlsx',
    loads: 'text',
    make: (address) =>
      makeArchive([
        {
          name: '[Content_Types].xml',
          content:
            `<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
            `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
            `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/>` +
            `<Override PartName="/xl/externalLinks/externalLink1.xml" ContentType="${types}.externalLink+xml"/></Types>`,
        },
        {
          name: '_rels/.rels',
          content: `<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
        },
        {
          name: 'xl/workbook.xml',
          content: `<workbook xmlns="${main}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets><externalReferences><externalReference r:id="r2"/></externalReferences></workbook>`,
        },
        {
          name: 'xl/_rels/workbook.xml.rels',
          content:
            `<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/>` +
            `<Relationship Id="r2" Type="${RELATIONSHIPS}/externalLink" Target="externalLinks/externalLink1.xml"/></Relationships>`,
        },
        {
          name: 'xl/worksheets/sheet1.xml',
          content: `<worksheet xmlns="${main}" xmlns:r="${RELATIONSHIPS}"><sheetData><row r="1">${sheet(address)}</row></sheetData></worksheet>`,
        },
        {
          name: 'xl/externalLinks/externalLink1.xml',
          content: `<externalLink xmlns="${main}"><externalBook xmlns:r="${RELATIONSHIPS}" r:id="leak"><sheetNames><sheetName val="A"/></sheetNames></externalBook></externalLink>`,
        },
        {
          name: 'xl/externalLinks/_rels/externalLink1.xml.rels',
          content: `<Relationships xmlns="${packaged}/relationships">${external('externalLinkPath', address)}</Relationships>`,
        },
        ...more(address),
      ]),
  };
}

const cell = (formula: string) => `<c r="A1"><f>${formula}</f></c>`;

const rtf = (name: string, body: (address: string) => string, loads: Leak['loads'] = 'text'): Leak => ({
  name,
  extension: 'rtf',
  loads,
  make: (address) => Buffer.from(`{\\rtf1\\ansi Ein Absatz\\par ${body(address)}\\par}`),
});

const image = (address: string) =>
  `<draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="${address}" xlink:type="simple"/></draw:frame>`;

/** Ways in which office documents reference external files. */
export const LEAKS: readonly Leak[] = [
  docx(
    'linked picture',
    (address) => ({ body: drawing('r:link="leak"'), relationships: external('image', address) }),
    'picture',
  ),
  docx(
    'embedded picture that is elsewhere',
    (address) => ({ body: drawing('r:embed="leak"'), relationships: external('image', address) }),
    'picture',
  ),
  docx(
    'VML picture',
    (address) => ({
      body: '<w:p><w:r><w:pict><v:shape style="width:72pt;height:72pt"><v:imagedata r:id="leak"/></v:shape></w:pict></w:r></w:p>',
      relationships: external('image', address),
    }),
    'picture',
  ),
  docx('INCLUDEPICTURE', (address) => ({ body: field(`INCLUDEPICTURE "${address}" \\d`) }), 'picture'),
  docx('INCLUDETEXT', (address) => ({ body: field(`INCLUDETEXT "${address}"`) })),
  docx('DDEAUTO', (address) => ({ body: field(`DDEAUTO soffice "${address}" A1`) })),
  docx('linked object', (address) => ({
    body: '<w:p><w:r><w:object><v:shape id="s" style="width:72pt;height:72pt"/><o:OLEObject Type="Link" ProgID="Word.Document.12" ShapeID="s" DrawAspect="Content" r:id="leak" UpdateMode="Always"/></w:object></w:r></w:p>',
    relationships: external('oleObject', address),
  })),
  docx('part of another document', (address) => ({
    body: '<w:altChunk r:id="leak"/>',
    relationships: external('aFChunk', address),
  })),
  docx('subdocument', (address) => ({
    body: '<w:p><w:subDoc r:id="leak"/></w:p>',
    relationships: external('subDocument', address),
  })),
  docx('attached template', (address) => ({
    relationships: `<Relationship Id="s" Type="${RELATIONSHIPS}/settings" Target="settings.xml"/>`,
    more: [
      {
        name: 'word/settings.xml',
        content: `<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}"><w:attachedTemplate r:id="leak"/></w:settings>`,
      },
      {
        name: 'word/_rels/settings.xml.rels',
        content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${external('attachedTemplate', address)}</Relationships>`,
      },
    ],
  })),
  xlsx('WEBSERVICE', (address) => cell(`WEBSERVICE("${address}")`)),
  xlsx('external sheet', () => cell('[1]A!$A$1')),
  xlsx('external sheet by a text', (address) => cell(`INDIRECT("'${address}'#$A.A1")`)),
  xlsx('DDE', (address) => cell(`DDE("soffice";"${address}";"A1")`)),
  odf('linked picture in odt', 'text', (address) => `<text:p>${image(address)}</text:p>`, 'picture'),
  odf(
    'linked section',
    'text',
    (address) =>
      `<text:section text:name="s"><text:section-source xlink:href="${address}"/><text:p>x</text:p></text:section>`,
  ),
  odf(
    'linked object in odt',
    'text',
    (address) =>
      `<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:object xlink:href="${address}"/></draw:frame></text:p>`,
  ),
  odf(
    'plug-in',
    'text',
    (address) =>
      `<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:plugin xlink:href="${address}" draw:mime-type="video/mp4"/></draw:frame></text:p>`,
  ),
  odf(
    'floating frame',
    'text',
    (address) =>
      `<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:floating-frame xlink:href="${address}"/></draw:frame></text:p>`,
  ),
  odf(
    'linked sheet',
    'spreadsheet',
    (address) =>
      `<table:table table:name="A"><table:table-source xlink:href="${address}" table:table-name="A"/><table:table-row><table:table-cell/></table:table-row></table:table>`,
  ),
  odf(
    'linked cells',
    'spreadsheet',
    (address) =>
      `<table:table table:name="A"><table:table-row><table:table-cell><table:cell-range-source table:name="A1" xlink:href="${address}" table:last-column-spanned="1" table:last-row-spanned="1" table:filter-name="calc_HTML_WebQuery"/></table:table-cell></table:table-row></table:table>`,
  ),
  odf(
    'WEBSERVICE in ods',
    'spreadsheet',
    (address) =>
      `<table:table table:name="A"><table:table-row><table:table-cell table:formula="of:=WEBSERVICE(&quot;${address}&quot;)"/></table:table-row></table:table>`,
  ),
  rtf(
    'INCLUDEPICTURE in rtf',
    (address) => `{\\field{\\*\\fldinst INCLUDEPICTURE "${address}" \\\\d}{\\fldrslt alt}}`,
    'picture',
  ),
  rtf('INCLUDETEXT in rtf', (address) => `{\\field{\\*\\fldinst INCLUDETEXT "${address}"}{\\fldrslt alt}}`),
  rtf('template in rtf', (address) => `{\\*\\template ${address}}`),
];
