import { markdownTable } from '../report/table.ts';
import { inTurn } from './in-turn.ts';
import { nameOf, PDF_CASES } from './pdf/cases.ts';
import { startComparing, type Trial } from './pdf/run.ts';
import { writeLikeness } from './readme.ts';
import { listSources, spread } from './sources.ts';

/** Number of documents that each option set except the first is compared with, in turn. */
const DOCUMENTS_PER_CASE = 8;
/** Maximum number of documents that an option set is tried with, because some do not have the pages it selects. */
const TRIES_PER_CASE = 40;
const MIN_DOCUMENTS = 60;

/** Compares pages of the PDFs in a folder with pdftoppm's output, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const isSource = (path: string) => path.toLowerCase().endsWith('.pdf') && path.includes(only);
  const sources = spread(await listSources(folder, isSource), limit);
  if (!only && sources.length < MIN_DOCUMENTS)
    throw new Error(`Expected at least ${MIN_DOCUMENTS} PDFs in ${folder}, found ${sources.length}.`);
  const comparing = await startComparing();
  const trials: Trial[] = [];
  const compareSome = inTurn(sources);
  for (const [index, each] of PDF_CASES.entries()) {
    const all = { wanted: sources.length, maxTries: sources.length };
    const some = { wanted: DOCUMENTS_PER_CASE, maxTries: TRIES_PER_CASE };
    await compareSome(index === 0 ? all : some, async (source) => {
      const trial = await comparing.tryCase(each, source);
      trials.push(trial);
      return trial.verdict !== 'neither';
    });
  }
  await comparing.close();
  return report(trials, sources.length, write);
}

function report(trials: readonly Trial[], documents: number, write: boolean): number {
  for (const { name, source, verdict, ours, theirs, similarity } of trials) {
    if (verdict === 'same' || verdict === 'neither') continue;
    const seen = similarity?.toFixed(3) ?? (ours && theirs ? `${ours} against ${theirs}` : '');
    console.log([verdict, name || 'defaults', source, seen].join('  '));
  }
  const rows = PDF_CASES.map((each) => {
    const own = trials.filter(({ name, verdict }) => name === nameOf(each) && verdict !== 'neither');
    const similarities = own.flatMap(({ similarity }) => (similarity === undefined ? [] : [similarity]));
    similarities.sort((a, b) => a - b);
    const count = (verdict: Trial['verdict']) => own.filter((trial) => trial.verdict === verdict).length;
    const unlike = own.length - count('same') - count('only ours');
    return {
      name: nameOf(each),
      verdict:
        unlike === 0 ? 'same' : `${own.length - unlike} the same${each.reason ? `; ${each.reason}` : ''}`,
      cells: [own.length, count('size'), count('look'), count('only ours'), count('only theirs')],
      median: similarities[Math.floor(similarities.length / 2)] ?? Number.NaN,
      onlyTheirs: count('only theirs'),
    };
  });
  const counted = ['#documents', '#other size', '#look different', '#only ours', '#only poppler'];
  const table = markdownTable(
    ['options', 'against poppler', ...counted, '#median similarity'],
    rows.map(({ name, verdict, cells, median }) => [
      name ? `\`${name}\`` : 'defaults',
      verdict,
      ...cells,
      median.toFixed(3),
    ]),
  );
  const text = `${documents} documents.\n\n${table}`;
  console.log(text);
  if (write) writeLikeness('pdftools', text);
  return rows.some(({ onlyTheirs }) => onlyTheirs > 0) ? 1 : 0;
}
