import { type LeakFile, type Part, PIXEL, pack, quoted, type Target } from './archive.ts';
import { files, type Link, relations, SIZE, types, WORD } from './package.ts';

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
const UP = '../'.repeat(20);
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
export const WORD_LEAKS: readonly LeakFile[] = files('docx', DOCX, docx);
