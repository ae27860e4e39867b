import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { CODE } from '../../infra/local/server/temporary.ts';
import { engineNetwork } from '../helpers/engine-network.ts';
import { markdownTable } from '../report/table.ts';
import { convertHere, readPdfOptions } from './documents/compare.ts';
import { writeLikeness } from './readme.ts';
import { spread } from './sources.ts';
import { compareWithOffice, type Similarity } from './word/compare.ts';
import { findPairs } from './word/pairs.ts';

/** Compares our PDFs of a folder's documents with those that Microsoft Office made of them, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const pairs = (await findPairs(folder)).filter(({ document }) => document.includes(only));
  const chosen = new Set(
    spread(
      pairs.map(({ document }) => document),
      limit,
    ),
  );
  const temporary = await mkdtemp(join(tmpdir(), 'likeness-'));
  const engine = createEngine({
    layers: resolve('dist/layers'),
    code: CODE,
    temporary,
    size: 1,
    ...engineNetwork(),
  });
  const all: Similarity[] = [];
  let failed = 0;
  for (const { document, pdf } of pairs.filter((pair) => chosen.has(pair.document))) {
    const ours = await convertHere({ engine, temporary }, document, readPdfOptions(), 'pdf');
    const similarity = ours && (await compareWithOffice(ours, await readFile(pdf)));
    if (similarity) all.push(similarity);
    else failed += 1;
    console.log(similarity ? describe(basename(document), similarity) : `failed  ${basename(document)}`);
  }
  await engine.close();
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  const counted = all.filter(({ sameText }) => sameText);
  const table = tableOf(counted);
  const others = `${all.length - counted.length} with another text, ${failed} not converted`;
  console.log(`${counted.length} pairs; not counted: ${others}\n${table}`);
  if (write) writeLikeness('word', table);
  return failed > 0 ? 1 : 0;
}

function describe(name: string, { group, pages, lines, places, look, sameText }: Similarity): string {
  const figures = [lines, places].map((each) => each.toFixed(2)).join('  ');
  return `${figures}  ${look.toFixed(1).padStart(5)}  ${pages.join('/').padStart(7)}  ${group}  ${name}${sameText ? '' : '  (other text)'}`;
}

function tableOf(all: readonly Similarity[]): string {
  const groups = [...new Set(all.map(({ group }) => group))].sort();
  const rows = [...groups, 'all'].map((group) => {
    const own = all.filter((each) => group === 'all' || each.group === group);
    const same = own.filter(({ pages: [ours, theirs] }) => ours === theirs).length;
    const part = `${((100 * same) / Math.max(1, own.length)).toFixed(0)} %`;
    const figures = [({ lines }: Similarity) => lines, ({ places }: Similarity) => places].map((of) =>
      median(own.map(of)).toFixed(2),
    );
    return [group, own.length, part, ...figures, median(own.map(({ look }) => look)).toFixed(1)];
  });
  const head = [
    'fonts',
    '#documents',
    '#same page count',
    '#same lines',
    '#same lines on same pages',
    '#difference of color',
  ];
  return markdownTable(head, rows);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle - 0.25)]! + sorted[Math.floor(middle)]!) / 2;
}
