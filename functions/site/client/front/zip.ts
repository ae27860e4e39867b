/** A file of an archive. */
export interface Entry {
  readonly name: string;
  readonly content: Blob;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
/** The names are UTF-8. */
const UTF8 = 0x0800;
const VERSION = 20;
/** 1980-01-01, the earliest date. */
const DATE = 0x21;

/** Returns an archive of files, which are stored without compression because results are compressed already. */
export async function zipOf(entries: readonly Entry[]): Promise<Blob> {
  const parts: BlobPart[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  const taken = new Set<string>();
  let offset = 0;
  for (const { name, content } of entries) {
    const bytes = new TextEncoder().encode(uniqueName(name, taken));
    const sum = checksum(new Uint8Array(await content.arrayBuffer()));
    const facts = [
      ...[VERSION, UTF8, 0, 0, DATE].map((value) => [value, 2] as const),
      ...[sum, content.size, content.size].map((value) => [value, 4] as const),
      ...[bytes.length, 0].map((value) => [value, 2] as const),
    ];
    const head = record(0x04034b50, facts, bytes);
    parts.push(head, content);
    const rest = [
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [offset, 4],
    ] as const;
    directory.push(record(0x02014b50, [[VERSION, 2], ...facts, ...rest], bytes));
    offset += head.length + content.size;
  }
  const length = directory.reduce((all, { length: each }) => all + each, 0);
  const count = [directory.length, 2] as const;
  const end = record(0x06054b50, [[0, 2], [0, 2], count, count, [length, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/** Returns a signature, numbers with their lengths in bytes, and a name, in the byte order of archives. */
function record(
  signature: number,
  numbers: ReadonlyArray<readonly [value: number, bytes: number]>,
  name = new Uint8Array(),
): Uint8Array<ArrayBuffer> {
  const all = [[signature, 4] as const, ...numbers];
  const bytes = new Uint8Array(all.reduce((sum, [, length]) => sum + length, name.length));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, length] of all) {
    if (length === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += length;
  }
  bytes.set(name, at);
  return bytes;
}

function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** Numbers a name that is taken, such as `a-2.pdf`. File systems may ignore case. Paths become plain names. */
function uniqueName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[/\\]/g, '_');
  const [, stem = plain, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(plain) ?? [];
  let unique = plain;
  for (let number = 2; taken.has(unique.toLowerCase()); number += 1) unique = `${stem}-${number}${extension}`;
  taken.add(unique.toLowerCase());
  return unique;
}
