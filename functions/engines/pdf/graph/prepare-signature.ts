import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { type Graph, isDictionary, isReference, textOf, type Value } from './graph.ts';

/** Maximum bytes of a signature with its certificates. */
const MAX_SIGNATURE = 16_384;
/** Flags of an annotation that is printed and cannot be moved. */
const PRINT_AND_LOCKED = 4 | 128;
/** Fields of a form that contain signatures, and may only be changed by adding to the file. */
const SIGNED = 3;
const REFERENCE = /^\d+ \d+ R$/;
const DELIMITERS = '()<>[]{}/%#';

/** Texts that readers show with a signature. */
export interface SignatureText {
  readonly name: string | undefined;
  readonly reason: string | undefined;
  readonly place: string | undefined;
  /** As in PDF: `D:20260131120000Z`. */
  readonly date: string;
}

/** Where the hexadecimal signature belongs: after the byte at `at`, and before the one before `end`. */
interface PreparedSignature {
  readonly at: number;
  readonly end: number;
}

/**
 * Writes what must be appended to a PDF to add a signature field with space for the signature. Earlier signatures stay
 * valid. Returns where the signature belongs in the whole file, or why there can be none.
 */
export function prepareSignature(
  graph: Graph,
  source: string,
  target: string,
  { name, reason, place, date }: SignatureText,
): PreparedSignature | { readonly problem: string } {
  const { trailer, root, rootRef } = graph;
  if (trailer['/Encrypt'] !== undefined) return { problem: 'An encrypted document cannot be signed.' };
  if (isFinal(graph)) return { problem: 'A signature of the document forbids further ones.' };
  const [page] = graph.pages;
  const previous = readPrevious(source);
  if (!page || !previous) return { problem: 'The document is damaged and cannot be signed.' };

  const space = `<${'0'.repeat(MAX_SIGNATURE * 2)}>`;
  const range = `[0 ${'*'.repeat(32)}]`;
  const text = (value: string | undefined) => (value === undefined ? null : `u:${value}`);
  const signature = graph.add({
    '/Type': '/Sig',
    '/Filter': '/Adobe.PPKLite',
    '/SubFilter': '/ETSI.CAdES.detached',
    '/M': `u:${date}`,
    '/Name': text(name),
    '/Reason': text(reason),
    '/Location': text(place),
  });
  const field = graph.add({
    ...{ '/Type': '/Annot', '/Subtype': '/Widget', '/FT': '/Sig', '/Rect': [0, 0, 0, 0] },
    ...{ '/F': PRINT_AND_LOCKED, '/V': signature, '/P': page.ref },
    '/T': `u:Signature${signature.split(' ', 1)[0]}`,
  });
  graph.merge(page.ref, { '/Annots': [...graph.list(page.dict['/Annots']), field] });
  const form = root['/AcroForm'];
  const entries = { '/Fields': [...graph.list(graph.dict(form)['/Fields']), field], '/SigFlags': SIGNED };
  if (isReference(form)) graph.merge(form, entries);
  else graph.merge(rootRef, { '/AcroForm': { ...graph.dict(form), ...entries } });

  let added = '\n';
  const offsets = new Map<number, readonly [offset: number, generation: number]>();
  for (const [ref, value] of graph.changes()) {
    const [number, generation] = ref.split(' ').map(Number) as [number, number];
    offsets.set(number, [previous.size + added.length, generation]);
    const written =
      ref === signature
        ? write(value).replace(/>>$/, ` /ByteRange ${range} /Contents ${space}>>`)
        : write(value);
    added += `${number} ${generation} obj\n${written}\nendobj\n`;
  }
  added += writeTable(graph, offsets, previous, previous.size + added.length);
  const [at, end] = [added.indexOf(space), added.indexOf(space) + space.length].map(
    (index) => index + previous.size,
  ) as [number, number];
  const covered = `[0 ${at} ${end} ${previous.size + added.length - end}]`.padEnd(range.length);
  writeFileSync(target, Buffer.from(added.replace(range, covered), 'latin1'));
  return { at, end };
}

/** Whether a signature certifies the document and allows no changes. */
function isFinal(graph: Graph): boolean {
  const certified = graph.dict(graph.dict(graph.root['/Perms'])['/DocMDP']);
  return graph.list(certified['/Reference']).some((reference) => {
    const { '/TransformParams': parameters } = graph.dict(reference);
    return graph.number(graph.dict(parameters)['/P'], 2) === 1;
  });
}

interface Previous {
  readonly size: number;
  /** Offset of the cross-reference table, and whether it is a stream. */
  readonly start: number;
  readonly isStream: boolean;
}

function readPrevious(source: string): Previous | undefined {
  const file = openSync(source, 'r');
  try {
    const { size } = fstatSync(file);
    const read = (position: number) => {
      const bytes = Buffer.alloc(1024);
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, position));
    };
    const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(read(Math.max(0, size - 1024)))?.[1]);
    if (!Number.isSafeInteger(start) || start >= size) return undefined;
    const head = read(start);
    const isStream = /^\d+ \d+ obj\b/.test(head);
    return isStream || head.startsWith('xref') ? { size, start, isStream } : undefined;
  } finally {
    closeSync(file);
  }
}

/** Writes a cross-reference table of the kind that the document has. */
function writeTable(
  graph: Graph,
  offsets: ReadonlyMap<number, readonly [offset: number, generation: number]>,
  { start, isStream }: Previous,
  at: number,
): string {
  const { '/Root': root = null, '/Info': info = null, '/ID': id = null } = graph.trailer;
  const own = isStream ? Number(graph.add(null).split(' ', 1)[0]) : 0;
  const all = [...offsets, ...(isStream ? [[own, [at, 0]] as const] : [])].sort(
    ([one], [other]) => one - other,
  );
  const trailer = { '/Root': root, '/Info': info, '/ID': id, '/Size': graph.maxId + 1, '/Prev': start };
  const end = `startxref\n${at}\n%%EOF\n`;
  if (!isStream) {
    const lines = all.map(
      ([number, [offset, generation]]) =>
        `${number} 1\n${String(offset).padStart(10, '0')} ${String(generation).padStart(5, '0')} n \n`,
    );
    return `xref\n${lines.join('')}trailer\n${write(trailer)}\n${end}`;
  }
  const rows = Buffer.concat(
    all.map(([, [offset, generation]]) => {
      const row = Buffer.from([1, 0, 0, 0, 0, 0, 0]);
      row.writeUInt32BE(offset, 1);
      row.writeUInt16BE(generation, 5);
      return row;
    }),
  ).toString('latin1');
  const stream = {
    ...trailer,
    '/Type': '/XRef',
    '/W': [1, 4, 2],
    '/Index': all.flatMap(([number]) => [number, 1]),
  };
  return `${own} 0 obj\n${write({ ...stream, '/Length': rows.length })}\nstream\n${rows}\nendstream\nendobj\n${end}`;
}

/** Writes a value as PDF does. */
function write(value: Value): string {
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(write).join(' ')}]`;
  if (isDictionary(value)) {
    const entries = Object.entries(value).filter(([, each]) => each !== null);
    return `<<${entries.map(([name, each]) => `${writeName(name)} ${write(each)}`).join(' ')}>>`;
  }
  if (typeof value !== 'string' || REFERENCE.test(value)) return String(value);
  if (value.startsWith('/')) return writeName(value);
  if (value.startsWith('n:')) return value.slice(2);
  if (value.startsWith('b:')) return `<${value.slice(2)}>`;
  const text = textOf(value) ?? '';
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}

function writeName(name: string): string {
  const bytes = [...Buffer.from(name.slice(1))].map((byte) => {
    const character = String.fromCharCode(byte);
    const isPlain = byte > 0x20 && byte < 0x7f && !DELIMITERS.includes(character);
    return isPlain ? character : `#${byte.toString(16).padStart(2, '0')}`;
  });
  return `/${bytes.join('')}`;
}
