import { readFileSync, writeFileSync } from 'node:fs';
import { countPages } from '../pdf/page-count.ts';
import { serveRequests } from '../worker/serve.ts';
import { correct, correctionsOf } from './corrections.ts';
import { isArchive, withoutDuplicates, withParts } from './detect/archive.ts';
import { findSeparator } from './detect/encoding.ts';
import { declaredLanguage, missingEnds, withOwnDates } from './detect/language.ts';
import { recognize } from './detect/recognize.ts';
import type { Input } from './inputs.ts';
import { type Prepared, REWRITTEN, type SourceOperations } from './request.ts';
import { chunkFile, findChunks } from './word/chunks.ts';
import { layOutAsWord, withoutSlowParts } from './word/rewrite.ts';

await serveRequests<SourceOperations>({
  prepare,
  simplify,
  embed,
  count: ({ path }) => countPages(path),
});

async function prepare({
  path,
  claims,
  encoding,
  isPrinted,
  hasFormulas,
}: SourceOperations['prepare']): Promise<Prepared> {
  const bytes = readFileSync(path);
  const { kind, encrypted, text } = await recognize(bytes, claims, encoding);
  let pages: number | undefined;
  let hasPageFields = false;
  let isTight = /^p(?:pt|ot|ps)$/.test(kind);
  let rewritten: Buffer | undefined;
  let chunks: Awaited<ReturnType<typeof findChunks>> = [];
  const ends = kind === 'rtf' ? missingEnds(bytes) : '';
  if (ends !== '') rewritten = Buffer.concat([bytes, Buffer.from(ends)]);
  if (isArchive(bytes)) {
    rewritten = await withoutDuplicates(bytes).catch(() => undefined);
    const isWord = /^do[ct][xm]$/.test(kind);
    const laidOut =
      isWord && isPrinted ? await layOutAsWord(rewritten ?? bytes).catch(() => undefined) : undefined;
    rewritten = laidOut?.bytes ?? rewritten;
    const corrected = await correct(
      rewritten ?? bytes,
      hasFormulas ? [] : correctionsOf(kind, { isPrinted }),
    );
    rewritten = corrected.bytes ?? rewritten;
    isTight = corrected.isEastAsian;
    pages = laidOut?.pages;
    chunks = isWord ? await findChunks(bytes).catch(() => []) : [];
    hasPageFields = laidOut?.hasPageFields ?? false;
  }
  if (isPrinted && !encrypted && /^(fo|o)d[tspg]$|^ot[tsp]$/.test(kind))
    rewritten = (await withOwnDates(rewritten ?? bytes).catch(() => undefined)) ?? rewritten;
  const isTable = kind === 'csv' || kind === 'tsv';
  // With a byte order mark, Writer reads the text as UTF-8. Calc is told the encoding by an option.
  if (text !== undefined && (isTable || kind === 'txt'))
    rewritten = Buffer.from(isTable ? text : `\ufeff${text}`);
  if (rewritten !== undefined) writeFileSync(REWRITTEN, rewritten);
  for (const [index, chunk] of chunks.entries()) writeFileSync(chunkFile(index), chunk.bytes);
  const isRewritten = rewritten !== undefined;
  const language = encrypted ? undefined : await declaredLanguage(kind, bytes).catch(() => undefined);
  const separator = separatorOf(kind, text);
  return {
    kind,
    encrypted,
    separator,
    pages,
    hasPageFields,
    isTight,
    language,
    chunks: chunks.map((chunk) => chunk.kind),
    isRewritten,
  };
}

async function embed({ path, files }: SourceOperations['embed']): Promise<void> {
  const bytes = readFileSync(path);
  const chunks = await findChunks(bytes);
  const embedded = chunks.flatMap(({ part }, index): Array<[string, Buffer]> => {
    const file = `${chunkFile(index)}.docx`;
    return files.includes(file) ? [[part, readFileSync(file)]] : [];
  });
  writeFileSync(REWRITTEN, await withParts(bytes, new Map(embedded)));
}

async function simplify({ path }: SourceOperations['simplify']): Promise<boolean> {
  const bytes = readFileSync(path);
  const simple = isArchive(bytes) ? await withoutSlowParts(bytes).catch(() => undefined) : undefined;
  if (simple) writeFileSync(REWRITTEN, simple);
  return simple !== undefined;
}

function separatorOf(kind: Input, text = ''): string | undefined {
  if (kind === 'tsv') return '\t';
  return kind === 'csv' ? findSeparator(text) : undefined;
}
