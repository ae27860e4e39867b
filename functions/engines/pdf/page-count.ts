import { type FileHandle, open } from 'node:fs/promises';

/**
 * Counts the pages of a PDF that LibreOffice or Chromium wrote, from trailer, catalog and page tree: three short
 * reads of a file of any size. Returns 0 if the PDF is incomplete.
 */
export async function countPages(path: string): Promise<number> {
  const file = await open(path).catch(() => undefined);
  if (!file) return 0;
  try {
    const { size } = await file.stat();
    if ((await read(file, 0, 5)) !== '%PDF-') return 0;
    const tail = await read(file, Math.max(0, size - 2048), 2048);
    const table = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail)?.[1]);
    const root = Number(/\/Root\s+(\d+)\s+0\s+R/.exec(tail)?.[1]);
    const catalog = await readObject(file, table, root);
    const pages = await readObject(file, table, Number(/\/Pages\s+(\d+)\s+0\s+R/.exec(catalog)?.[1]));
    return Number(/\/Count\s+(\d+)/.exec(pages)?.[1] ?? 0);
  } finally {
    await file.close();
  }
}

/**
 * Reads an object through its 20-byte entry in a cross-reference table with one section, as LibreOffice and Chromium
 * write it.
 */
async function readObject(file: FileHandle, table: number, number: number): Promise<string> {
  if (!Number.isSafeInteger(table) || !Number.isSafeInteger(number)) return '';
  const head = /^xref\s+0\s+\d+\s*?\r?\n/.exec(await read(file, table, 40))?.[0];
  if (head === undefined) return '';
  const offset = Number((await read(file, table + head.length + number * 20, 10)) || Number.NaN);
  if (!Number.isSafeInteger(offset)) return '';
  // A page tree lists its pages before their count, so the whole object is read.
  let text = '';
  for (let at = offset; !text.includes('endobj') && text.length < 1_000_000; at += 65_536) {
    const more = await read(file, at, 65_536);
    if (more === '') return '';
    text += more;
  }
  return text.slice(0, text.indexOf('endobj'));
}

async function read(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
}
