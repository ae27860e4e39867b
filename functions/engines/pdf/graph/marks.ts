import { readFileSync } from 'node:fs';

/** Facts that the bytes of a PDF tell without its objects. */
export type Marks = ReturnType<typeof readMarks>;

/** Reads the marks of a file. It may be large, so only a worker does this. */
export function readMarks(source: string) {
  const bytes = readFileSync(source);
  const head = bytes.toString('latin1', 0, 1024);
  const claims = claimsIn(bytes);
  return {
    bytes: bytes.length,
    version: /%PDF-(\d\.\d)/.exec(head)?.[1] ?? '',
    isLinearized: head.includes('/Linearized'),
    /**
     * A signature is never compressed, because the bytes that it covers must be readable in the file. Usage rights of
     * Adobe Reader cover bytes as well.
     */
    isSigned:
      count(bytes, '/ByteRange') > count(bytes, '/TransformMethod/UR') + count(bytes, '/TransformMethod /UR'),
    isEncrypted: bytes.includes('/Encrypt'),
    /** Whether it claims to be PDF/A, which requires metadata that are readable in the file. */
    isArchive: bytes.includes('pdfaid:part'),
    /** Whether it claims to be PDF/UA. */
    isAccessible: bytes.includes('pdfuaid:part'),
    /** The standards that it claims to follow, such as `PDF/A-2b`. */
    claims,
  };
}

function count(bytes: Buffer, text: string): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found += 1;
  return found;
}

/** Returns the standards that a PDF claims to follow, from its metadata if they are not compressed. */
function claimsIn(bytes: Buffer): string[] {
  const at = bytes.indexOf('<x:xmpmeta');
  const end = bytes.indexOf('</x:xmpmeta>', at);
  const metadata = at >= 0 && end > at ? bytes.toString('utf8', at, Math.min(end, at + 1_000_000)) : '';
  const entry = (name: string) => new RegExp(`${name}(?:="|>)([0-9A-Za-z]{1,2})`).exec(metadata)?.[1];
  const [archive, level = '', accessible] = ['pdfaid:part', 'pdfaid:conformance', 'pdfuaid:part'].map(entry);
  return [
    ...(archive === undefined ? [] : [`PDF/A-${archive}${level.toLowerCase()}`]),
    ...(accessible === undefined ? [] : [`PDF/UA-${accessible}`]),
  ];
}

/** The encryption of a document, as `qpdf --json --json-key=encrypt` reports it. */
export interface EncryptionFacts {
  readonly capabilities: Capabilities;
  readonly ownerpasswordmatched: boolean;
  readonly parameters: { readonly bits: number; readonly method: string };
}

/** The rights of a reader with the user password. */
export interface Capabilities {
  readonly extract: boolean;
  readonly modifyannotations: boolean;
  readonly modifyassembly: boolean;
  readonly modifyforms: boolean;
  readonly modifyother: boolean;
}

export function readEncryption(json: string): EncryptionFacts {
  return (JSON.parse(readFileSync(json, 'utf8')) as { encrypt: EncryptionFacts }).encrypt;
}
