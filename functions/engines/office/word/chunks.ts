import { readBytes, readParts } from '../detect/archive.ts';
import { decodeText, detectEncoding } from '../detect/encoding.ts';
import { recognize } from '../detect/recognize.ts';
import type { Input } from '../inputs.ts';

/** Maximum chunks of a document that are converted. */
export const MAX_CHUNKS = 10;
/** Returns the name of the file with a chunk. */
export const chunkFile = (index: number) => `chunk${index}`;

/** Maximum length of the head of a MIME message. */
const MAX_HEAD = 4096;

/** A document in another format inside a Word document. */
interface Chunk {
  /** Name of its part. */
  readonly part: string;
  /** Extension of its format, empty if it cannot be converted. */
  readonly kind: Input | '';
  readonly bytes: Buffer;
}

const RELATIONSHIPS = /^word\/_rels\/document\d*\.xml\.rels$/;

/** Returns the documents inside a Word document that LibreOffice leaves out: all that are not Word documents themselves. */
export async function findChunks(bytes: Buffer): Promise<Chunk[]> {
  const [relationships = ''] = (await readParts(bytes, (name) => RELATIONSHIPS.test(name))).values();
  const targets = (relationships.match(/<Relationship\b[^<>]*\/aFChunk"[^<>]*>/g) ?? []).map(
    (tag) => /\bTarget="([^"]*)"/.exec(tag)?.[1] ?? '',
  );
  const chunks: Chunk[] = [];
  for (const target of targets.slice(0, MAX_CHUNKS)) {
    const part = target.startsWith('/') ? target.slice(1) : `word/${target}`;
    const chunk = await readChunk(part, (await readBytes(bytes, part)) ?? Buffer.alloc(0));
    if (!/^do[ct][xm]$/.test(chunk.kind)) chunks.push(chunk);
  }
  return chunks;
}

async function readChunk(part: string, content: Buffer): Promise<Chunk> {
  const page = webPageOf(content.toString('latin1'));
  const claims = { declared: undefined, name: page ? 'page.html' : part, contentType: '' };
  const document = await recognize(page ?? content, claims).catch(() => undefined);
  const { kind = '', text } = document ?? {};
  // With a byte order mark, Writer reads text as UTF-8.
  return { part, kind, bytes: text === undefined ? content : Buffer.from(`\ufeff${text}`) };
}

/** Returns the web page in a MIME message with its pictures; `undefined` if there is none. */
function webPageOf(message: string): Buffer | undefined {
  const head = message.slice(0, MAX_HEAD);
  const isMessage = /^[\w-]+:.*\r?\n/.test(head) && /^Content-Type:\s*multipart\//im.test(head);
  const boundary = isMessage ? /\bboundary="?([^"\s;]+)/i.exec(head)?.[1] : undefined;
  if (!boundary) return undefined;
  const parts = message.split(`--${boundary}`).map((part) => {
    const [head = '', ...body] = part.trimStart().split(/\r?\n\r?\n/);
    const header = (name: string) =>
      new RegExp(`^${name}:\\s*([^;\\r\\n]+)`, 'im').exec(head)?.[1]?.trim() ?? '';
    const encoding = header('Content-Transfer-Encoding').toLowerCase();
    const content = body.join('\n\n');
    const plain =
      encoding === 'quoted-printable'
        ? content
            .replace(/=\r?\n/g, '')
            .replace(/=([\dA-F]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
        : content;
    const bytes = Buffer.from(plain, encoding === 'base64' ? 'base64' : 'latin1');
    return {
      type: header('Content-Type'),
      names: [header('Content-Location'), header('Content-ID').replace(/^<(.*)>$/, 'cid:$1')],
      bytes,
    };
  });
  const page = parts.find(({ type }) => /^text\/html/i.test(type));
  if (!page) return undefined;
  let text = decodeText(page.bytes, detectEncoding(page.bytes));
  for (const { type, names, bytes } of parts) {
    if (!type.startsWith('image/')) continue;
    for (const name of names)
      if (name) text = text.replaceAll(name, `data:${type};base64,${bytes.toString('base64')}`);
  }
  return Buffer.from(text);
}
