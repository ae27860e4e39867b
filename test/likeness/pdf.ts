import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDF_CASES } from './pdf/cases.ts';
import { startDrawing, type Trial } from './pdf/run.ts';

const README = join(import.meta.dirname, '../../functions/pdftools/README.md');
const SECTION = /(<!-- likeness -->\n)[\s\S]*?(<!-- end likeness -->)/;
/** Number of documents that each option set except the first is tried with, in turn. */
const DOCUMENTS_PER_CASE = 8;
const LEAST_DOCUMENTS = 60;

/** Compares pages of the PDFs in a folder with pdftoppm's output, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const all = entries
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith('.pdf'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(only))
    .sort();
  // Spread evenly over the folder.
  const step = Math.max(1, Math.ceil(all.length / limit));
  const sources = all.filter((_, index) => index % step === 0);
  if (!only && sources.length < LEAST_DOCUMENTS)
    throw new Error(`Expected at least ${LEAST_DOCUMENTS} PDFs in ${folder}, found ${sources.length}.`);
  const drawing = await startDrawing();
  const trials: Trial[] = [];
  let turn = 0;
  for (const [index, each] of PDF_CASES.entries()) {
    const some =
      index === 0
        ? sources
        : Array.from({ length: DOCUMENTS_PER_CASE }, () => sources[turn++ % sources.length]!);
    for (const source of some) trials.push(await drawing.tryCase(each, source));
  }
  await drawing.close();
  return report(trials, sources.length, write);
}

async function report(trials: readonly Trial[], documents: number, write: boolean): Promise<number> {
  for (const { options, source, verdict, ours, theirs, similarity } of trials) {
    if (verdict === 'same' || verdict === 'neither') continue;
    console.log(
      `${verdict}  ${options}  ${source}  ${similarity?.toFixed(3) ?? `${ours} against ${theirs}`}`,
    );
  }
  const rows = PDF_CASES.map(({ options, reason }) => {
    const own = trials.filter((trial) => trial.options === options && trial.verdict !== 'neither');
    const similarities = own.flatMap(({ similarity }) => (similarity === undefined ? [] : [similarity]));
    similarities.sort((a, b) => a - b);
    const count = (verdict: Trial['verdict']) => own.filter((trial) => trial.verdict === verdict).length;
    return {
      options,
      reason,
      pages: own.length,
      sameSize: similarities.length,
      median: similarities[Math.floor(similarities.length / 2)] ?? Number.NaN,
      alike: count('same'),
      onlyOurs: count('only ours'),
      onlyTheirs: count('only theirs'),
    };
  });
  const table = [
    '| options | pages | same size | look alike | median similarity | only ours | only pdftoppm |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      ({ options, pages, sameSize, alike, median, onlyOurs, onlyTheirs }) =>
        `| ${options ? `\`${options}\`` : 'defaults'} | ${pages} | ${sameSize} | ${alike} | ${median.toFixed(3)} | ${onlyOurs} | ${onlyTheirs} |`,
    ),
  ];
  console.log(`${documents} documents\n${table.join('\n')}`);
  if (write) {
    const readme = await readFile(README, 'utf8');
    await writeFile(README, readme.replace(SECTION, `$1\n${table.join('\n')}\n\n$2`));
  }
  return rows.some(({ onlyTheirs }) => onlyTheirs > 0) ? 1 : 0;
}
