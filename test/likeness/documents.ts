import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { readInput } from '../../functions/doc2any/inputs.ts';
import { exportOptions } from '../../functions/doc2any/libreoffice/export-options.ts';
import { doc2any } from '../../functions/doc2any/tool.ts';
import { createEgress } from '../../functions/shared/egress/guard.ts';
import { readOptions } from '../../functions/shared/options/read-options.ts';
import { LIMITS } from '../../functions/shared/tool.ts';
import { CODE } from '../../infra/local/server/code.ts';
import { difference } from '../likeness.ts';
import { drawPage, type PdfFacts, readPdf } from '../pdf.ts';
import { type CompleteOffice, startCompleteOffice } from '../soffice/convert.ts';

const README = join(import.meta.dirname, '../../functions/doc2any/README.md');
const SECTION = /(<!-- likeness -->\n)[\s\S]*?(<!-- end likeness -->)/;
/** Option sets that both sides support. The first is tried with every document, the others in turn. */
const CASES = [
  '',
  '--pdf-version=2.0',
  '--pdf-version=PDF/A-2b',
  '--pdf-version=PDF/UA',
  '--tagged',
  '--quality=30',
  '--lossless',
  '--image-dpi=75',
  '--comments',
  '--notes',
  '--hidden-slides',
  '--no-bookmarks',
  '--no-forms',
  '--fit=sheet',
  '--watermark=DRAFT',
] as const;
const DOCUMENTS_PER_CASE = 6;
/** Mean difference of the channels, 0 to 255, above which two pages do not look alike. */
const UNLIKE = 1;

interface Trial {
  readonly options: string;
  readonly name: string;
  readonly verdict: 'same' | 'pages' | 'text' | 'look' | 'only ours' | 'only soffice' | 'neither';
}

/** Compares the conversion of a folder's documents with that of soffice in the same version, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const all = entries
    .filter((entry) => entry.isFile() && readInput(/\.(\w+)$/.exec(entry.name)?.[1] ?? '') !== undefined)
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(only))
    .sort();
  // Spread evenly over the folder.
  const step = Math.max(1, Math.ceil(all.length / limit));
  const sources = all.filter((_, index) => index % step === 0);
  const temporary = await mkdtemp(join(tmpdir(), 'likeness-'));
  const engine = createEngine({
    layers: resolve('dist/layers'),
    code: CODE,
    temporary,
    size: 1,
    egress: createEgress(),
  });
  const office = await startCompleteOffice();
  const trials: Trial[] = [];
  let turn = 0;
  for (const [index, options] of CASES.entries()) {
    const count = Math.min(DOCUMENTS_PER_CASE, sources.length);
    const some =
      index === 0 ? sources : Array.from({ length: count }, () => sources[turn++ % sources.length]!);
    for (const source of some) trials.push(await compare({ engine, office, temporary }, source, options));
  }
  await Promise.all([engine.close(), office.close()]);
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  return report(trials, sources.length, write);
}

interface Sides {
  readonly engine: ReturnType<typeof createEngine>;
  readonly office: CompleteOffice;
  readonly temporary: string;
}

async function compare({ engine, office, temporary }: Sides, path: string, text: string): Promise<Trial> {
  const [option = '', value = ''] = text.split('=');
  const { options } = readOptions(doc2any, text === '' ? [] : [{ name: option, value }], 'pdf');
  const typed = options as Parameters<typeof engine.convert>[0]['options'];
  const ours = await convertHere(engine, temporary, path, typed);
  const theirs = await office.convert(path, exportOptions(typed, undefined));
  return { options: text, name: basename(path), verdict: await judge(ours, theirs) };
}

async function convertHere(
  engine: Sides['engine'],
  temporary: string,
  path: string,
  options: Parameters<typeof engine.convert>[0]['options'],
): Promise<Buffer | undefined> {
  const directory = await mkdtemp(join(temporary, 'conversion-'));
  const bytes = await readFile(path);
  const copy = join(directory, 'source');
  await writeFile(copy, bytes);
  try {
    const { outputs } = await engine.convert({
      source: { path: copy, name: basename(path), contentType: '', bytes: bytes.length },
      options,
      format: 'pdf',
      delivery: 'one',
      directory,
      limits: LIMITS,
      signal: AbortSignal.timeout(60_000),
      tenant: 'likeness',
    });
    for await (const output of outputs) return await readFile(output.path);
    return undefined;
  } catch {
    return undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the first difference of two PDFs: page count, text, or appearance of the first page. */
async function judge(ours: Buffer | undefined, theirs: Buffer | undefined): Promise<Trial['verdict']> {
  if (!ours || !theirs) return ours ? 'only ours' : theirs ? 'only soffice' : 'neither';
  const [one, other] = await Promise.all([readPdf(ours), readPdf(theirs)]);
  if (one.pages.length !== other.pages.length) return 'pages';
  if (textOf(one) !== textOf(other)) return 'text';
  const [left, right] = await Promise.all([drawPage(ours, 1), drawPage(theirs, 1)]);
  return (await difference(left, right)) > UNLIKE ? 'look' : 'same';
}

const textOf = ({ pages }: PdfFacts) => pages.map(({ text }) => text).join('\n');

async function report(trials: readonly Trial[], documents: number, write: boolean): Promise<number> {
  for (const { options, name, verdict } of trials) {
    if (verdict !== 'same' && verdict !== 'neither') console.log(`${verdict}  ${options}  ${name}`);
  }
  const verdicts = ['same', 'pages', 'text', 'look', 'only ours', 'only soffice'] as const;
  const rows = CASES.map((options) => {
    const own = trials.filter((trial) => trial.options === options && trial.verdict !== 'neither');
    const counts = verdicts.map((verdict) => own.filter((trial) => trial.verdict === verdict).length);
    return `| ${options ? `\`${options}\`` : 'defaults'} | ${[own.length, ...counts].join(' | ')} |`;
  });
  const table = [
    '| options | documents | same | other page count | other text | other look | only ours | only soffice |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
  console.log(`${documents} documents\n${table}`);
  if (write) {
    const readme = await readFile(README, 'utf8');
    await writeFile(README, readme.replace(SECTION, `$1\n${table}\n\n$2`));
  }
  return trials.some(({ verdict }) => verdict === 'only soffice') ? 1 : 0;
}
