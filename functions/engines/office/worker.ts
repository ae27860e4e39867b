import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { countPages } from '../pdf/page-count.ts';
import { serveRequests } from '../worker/serve.ts';
import { correct, correctionsOf } from './corrections.ts';
import { isArchive, withoutDuplicates } from './detect/archive.ts';
import { withOwnDates } from './detect/date-styles.ts';
import { declaredLanguage } from './detect/language.ts';
import { recognize } from './detect/recognize.ts';
import { missingEnds } from './detect/rtf.ts';
import { findSeparator } from './detect/separator.ts';
import type { Input } from './inputs.ts';
import type { Prepared, SourceOperations } from './request.ts';
import { layOutAsWord, withoutFloatingTables } from './word/rewrite.ts';

await serveRequests<SourceOperations>({
  prepare,
  inlineTables,
  count: ({ path }) => countPages(path),
});

async function prepare({
  path,
  claims,
  encoding,
  isPrinted,
}: SourceOperations['prepare']): Promise<Prepared> {
  const bytes = readFileSync(path);
  const { kind, encrypted, text } = await recognize(bytes, claims, encoding);
  let pages: number | undefined;
  let hasPageFields = false;
  let isTight = /^p(?:pt|ot|ps)$/.test(kind);
  if (kind === 'rtf') appendFileSync(path, missingEnds(bytes));
  if (isArchive(bytes)) {
    const unique = await withoutDuplicates(bytes).catch(() => undefined);
    const isWord = /^do[ct][xm]$/.test(kind);
    const laidOut =
      isWord && isPrinted ? await layOutAsWord(unique ?? bytes).catch(() => undefined) : undefined;
    const whole = laidOut?.bytes ?? unique;
    const corrected = await correct(whole ?? bytes, isPrinted ? correctionsOf(kind) : []);
    const changed = corrected.bytes ?? whole;
    isTight = corrected.isEastAsian;
    if (changed) writeFileSync(path, changed);
    pages = laidOut?.pages;
    hasPageFields = laidOut?.hasPageFields ?? false;
  }
  if (isPrinted && !encrypted && /^(fo|o)d[tspg]$|^ot[tsp]$/.test(kind)) {
    const dated = await withOwnDates(readFileSync(path)).catch(() => undefined);
    if (dated) writeFileSync(path, dated);
  }
  const isTable = kind === 'csv' || kind === 'tsv';
  if (text !== undefined && (isTable || kind === 'txt')) {
    // With a byte order mark, Writer reads the text as UTF-8. Calc is told the encoding by an option.
    writeFileSync(path, isTable ? text : `\ufeff${text}`);
  }
  const language = encrypted ? undefined : await declaredLanguage(kind, bytes).catch(() => undefined);
  return { kind, encrypted, separator: separatorOf(kind, text), pages, hasPageFields, isTight, language };
}

async function inlineTables({ path }: SourceOperations['inlineTables']): Promise<boolean> {
  const bytes = readFileSync(path);
  const inline = isArchive(bytes) ? await withoutFloatingTables(bytes).catch(() => undefined) : undefined;
  if (inline) writeFileSync(path, inline);
  return inline !== undefined;
}

function separatorOf(kind: Input, text = ''): string | undefined {
  if (kind === 'tsv') return '\t';
  return kind === 'csv' ? findSeparator(text) : undefined;
}
