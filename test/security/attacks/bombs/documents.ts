import { pack } from '../office/archive.ts';
import { type Bomb, nested } from './bomb.ts';

const docx = (parts: Readonly<Record<string, string | Buffer>>) =>
  pack({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    'word/document.xml':
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>',
    ...parts,
  });

/** Archives and texts that expand enormously when LibreOffice opens them. */
export const DOCUMENT_BOMBS: readonly Bomb[] = [
  {
    name: 'zip of a gigabyte',
    app: 'doc2any',
    bytes: () =>
      docx(
        Object.fromEntries(
          Array.from({ length: 10 }, (_, index) => [`word/${index}.xml`, Buffer.alloc(100e6)]),
        ),
      ),
  },
  {
    name: 'zip of 20000 parts',
    app: 'doc2any',
    bytes: () =>
      docx(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`word/${index}.xml`, '']))),
  },
  {
    name: 'zip of a billion entities',
    app: 'doc2any',
    bytes: () =>
      docx({
        'word/document.xml': `<!DOCTYPE x [<!ENTITY a0 "x">${nested(12, (level) => `<!ENTITY a${level + 1} "${`&a${level};`.repeat(10)}">`)}]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&a12;</w:t></w:r></w:p></w:body></w:document>`,
      }),
  },
  {
    name: 'docx a hundred thousand deep',
    app: 'doc2any',
    bytes: () =>
      docx({
        'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${'<w:tbl><w:tr><w:tc>'.repeat(30_000)}</w:body></w:document>`,
      }),
  },
  {
    name: 'rtf a million deep',
    app: 'doc2any',
    bytes: () => Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`),
  },
];
