import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { INPUTS, readInput } from '../../functions/engines/office/inputs.ts';
import { EDITABLE } from '../../functions/engines/office/outputs.ts';
import { CODE } from '../../infra/local/server/temporary.ts';
import { engineNetwork } from '../helpers/engine-network.ts';
import { list } from '../helpers/list.ts';
import { markdownTable } from '../report/table.ts';
import { startCompleteOffice } from '../soffice/convert.ts';
import { FORMATS, OPTION_SETS } from './documents/cases.ts';
import { compareFormat, comparePdf, type Sides, VERDICTS, type Verdict } from './documents/compare.ts';
import { inTurn } from './in-turn.ts';
import { writeLikeness } from './readme.ts';
import { listSources, spread } from './sources.ts';

/** Number of documents that each option except the defaults is compared with, in turn. */
const DOCUMENTS_PER_OPTION = 4;
/** Maximum number of documents that an option is tried with, because neither side converts some, such as damaged ones. */
const TRIES_PER_OPTION = 16;
const DOCUMENTS_PER_FORMAT = 3;

interface Trial {
  /** Options or format. */
  readonly label: string;
  readonly name: string;
  readonly verdict: Verdict;
}

/** Compares the conversion of a folder's documents with that of soffice in the same version, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const isSource = (path: string) => readInput(extname(path)) !== undefined && path.includes(only);
  const sources = spread(await listSources(folder, isSource), limit);
  const temporary = await mkdtemp(join(tmpdir(), 'likeness-'));
  const engine = createEngine({
    layers: resolve('dist/layers'),
    code: CODE,
    temporary,
    size: 1,
    ...engineNetwork(),
  });
  const office = await startCompleteOffice();
  const trials = await compareAll({ engine, office, temporary }, sources);
  await Promise.all([engine.close(), office.close()]);
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  return report(trials, sources.length, write);
}

async function compareAll(sides: Sides, sources: readonly string[]): Promise<Trial[]> {
  const trials: Trial[] = [];
  const add = (label: string, path: string, verdict: Verdict) => {
    trials.push({ label, name: basename(path), verdict });
    if (verdict !== 'same' && verdict !== 'neither') console.log(`${verdict}  ${label}  ${basename(path)}`);
  };
  const compareSome = inTurn(sources);
  for (const [index, options] of OPTION_SETS.entries()) {
    const all = { wanted: sources.length, maxTries: sources.length };
    const some = { wanted: DOCUMENTS_PER_OPTION, maxTries: TRIES_PER_OPTION };
    await compareSome(index === 0 ? all : some, async (source) => {
      const verdict = await comparePdf(sides, source, options);
      add(label(options), source, verdict);
      return verdict !== 'neither';
    });
  }
  for (const format of FORMATS) {
    const fitting = sources.filter((path) => INPUTS[readInput(extname(path))!] === EDITABLE[format]);
    await inTurn(fitting)({ wanted: DOCUMENTS_PER_FORMAT, maxTries: TRIES_PER_OPTION }, async (source) => {
      const verdict = await compareFormat(sides, source, format);
      add(`.${format}`, source, verdict);
      return verdict !== 'neither';
    });
  }
  return trials;
}

const label = (options: string) => (options === '' ? 'defaults' : options);

function report(trials: readonly Trial[], documents: number, write: boolean): number {
  const shown = VERDICTS.filter((verdict) => verdict !== 'neither');
  const labels = [...OPTION_SETS.map(label), ...FORMATS.map((format) => `.${format}`)];
  const rows = labels.map((each) => {
    const own = trials.filter((trial) => trial.label === each && trial.verdict !== 'neither');
    const counts = shown.map((verdict) => own.filter((trial) => trial.verdict === verdict).length);
    return [each === 'defaults' ? each : `\`${each}\``, own.length, ...counts];
  });
  const head = list`
    options or output format, #documents, #same, #other page count, #other text, #other look, #only ours,
    #only soffice
  `;
  const table = markdownTable(head, rows);
  console.log(`${documents} documents\n${table}`);
  if (write) writeLikeness('doc2any', table);
  return trials.some(({ verdict }) => verdict === 'only soffice') ? 1 : 0;
}
