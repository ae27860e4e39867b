import { watchMemory } from '../memory.ts';
import type { Call } from '../service.ts';
import { line } from '../statistics.ts';
import { type Bench, count, type Row } from './row.ts';

/** What more pages cost. */
export interface Curve {
  readonly name: string;
  readonly points: ReadonlyArray<{
    readonly pages: number;
    readonly milliseconds: number;
    readonly memory: number;
  }>;
}

const PAGES = [1, 5, 10, 25, 50, 100, 200, 350, 500] as const;

/** Time and peak memory from 1 to 500 pages of a PDF and from 1 to 200 sheets of a web page. */
export async function measureCurves(bench: Bench): Promise<Curve[]> {
  const curves: Curve[] = [];
  if (bench.tools.has('pdftools')) {
    const call = (pages: number): Call => ({
      app: 'pdftools',
      infile: bench.addressOf(bench.inputs.tome),
      outfile: 'page.jpg.zip',
      options: { '-r': 72, '-l': pages },
    });
    const pages = bench.quick ? PAGES.filter((each) => each <= 100) : PAGES;
    curves.push(await measureCurve(bench, 'PDF pages, 72 DPI, to jpg in a zip', pages, call));
  }
  if (bench.tools.has('html2pdf')) {
    const call = (sheets: number): Call => ({
      app: 'html2pdf',
      infile: bench.addressOf(bench.inputs.sheets.get(sheets)!),
      outfile: 'sheets.pdf',
    });
    const all = [...bench.inputs.sheets.keys()];
    const sheets = bench.quick ? all.filter((each) => each <= 50) : all;
    curves.push(await measureCurve(bench, 'A4 sheets of a web page to PDF', sheets, call));
  }
  return curves;
}

/** How straight the line is, and how flat the memory. */
export function curveRows(curves: readonly Curve[]): Row[] {
  return curves.flatMap(({ name, points }) => {
    const { slope, explained } = line(points.map(({ pages, milliseconds }) => [pages, milliseconds]));
    const upper = points.slice(Math.floor(points.length / 2));
    const [first, last] = [upper[0]!, upper.at(-1)!];
    const perPage = (from: number, to: number) => (to - from) / (last.pages - first.pages);
    const late = perPage(first.milliseconds, last.milliseconds);
    return [
      {
        work: `one more page late in ${count(last.pages, 'page')}: ${name}`,
        peer: 'over all pages',
        unit: 'ms',
        ours: late,
        theirs: slope,
        value: late / slope,
        target: 1.15,
        note: `straight line explains ${(100 * explained).toFixed(1)} %`,
      },
      {
        work: `peak memory at ${count(last.pages, 'page')}: ${name}`,
        peer: `at ${count(first.pages, 'page')}`,
        unit: 'MiB',
        ours: last.memory,
        theirs: first.memory,
        value: last.memory / first.memory,
        target: 1.1,
      },
    ];
  });
}

async function measureCurve(
  bench: Bench,
  name: string,
  pages: readonly number[],
  call: (pages: number) => Call,
): Promise<Curve> {
  bench.say(`cost curve: ${name}`);
  await bench.service.convert(call(pages[0]!));
  const points = [];
  for (const each of pages) {
    const times: number[] = [];
    const peak = watchMemory(bench.service.pid);
    const repeats = bench.quick ? 1 : each > 200 ? 2 : 3;
    for (let count = 0; count < repeats; count += 1) times.push(await bench.service.convert(call(each)));
    points.push({ pages: each, milliseconds: Math.min(...times), memory: peak() });
  }
  return { name, points };
}
