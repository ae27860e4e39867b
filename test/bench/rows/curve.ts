import { watchMemory } from '../measure/memory.ts';
import { line } from '../measure/statistics.ts';
import type { Call } from '../service/service.ts';
import { type Bench, count, type Row } from './row.ts';

/** Time and memory by number of pages. */
interface Curve {
  readonly name: string;
  /** Whether the pages are drawn one by one, so that memory should not grow with their number. */
  readonly isDrawn: boolean;
  readonly points: ReadonlyArray<{
    readonly pages: number;
    readonly milliseconds: number;
    readonly memory: number;
  }>;
}

const PAGES = [1, 5, 10, 25, 50, 100, 200, 350, 500] as const;

/** Measures time and peak memory for 1 to 500 pages of a PDF and a web page of 1 to 200 A4 pages. */
export async function measureCurves(bench: Bench): Promise<Row[]> {
  const curves: Curve[] = [];
  const [drawn, printed] = ['PDF pages, 72 DPI, to jpg in a zip', 'A4 sheets of a web page to PDF'];
  if (bench.wants(drawn)) {
    const call = (pages: number): Call => ({
      app: 'pdftools',
      infile: bench.urlOf(bench.inputs.tome),
      outfile: 'page.jpg.zip',
      options: { '-r': 72, '-l': pages },
    });
    const pages = bench.quick ? PAGES.filter((each) => each <= 100) : PAGES;
    curves.push(await measureCurve(bench, { name: drawn, isDrawn: true }, pages, call));
  }
  if (bench.wants(printed)) {
    const call = (sheets: number): Call => ({
      app: 'html2pdf',
      infile: bench.urlOf(bench.inputs.sheets.get(sheets)!),
      outfile: 'sheets.pdf',
    });
    const all = [...bench.inputs.sheets.keys()];
    const sheets = bench.quick ? all.filter((each) => each <= 50) : all;
    curves.push(await measureCurve(bench, { name: printed, isDrawn: false }, sheets, call));
  }
  return curveRows(curves);
}

/** Rows for the linearity of the time and the growth of the memory. */
function curveRows(curves: readonly Curve[]): Row[] {
  return curves.flatMap(({ name, points, isDrawn }) => {
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
        // A browser keeps the whole page in memory. Of a PDF, only the current pages are needed.
        ...(isDrawn ? { target: 1.1 } : {}),
      },
    ];
  });
}

async function measureCurve(
  bench: Bench,
  { name, isDrawn }: Pick<Curve, 'name' | 'isDrawn'>,
  pages: readonly number[],
  call: (pages: number) => Call,
): Promise<Curve> {
  bench.say(`cost curve: ${name}`);
  const best = new Map(pages.map((each) => [each, { milliseconds: Number.POSITIVE_INFINITY, memory: 0 }]));
  for (let round = 0; round < (bench.quick ? 2 : 4); round += 1) {
    for (const each of pages) {
      const { milliseconds, memory } = best.get(each)!;
      const peak = watchMemory(bench.service.pid, call(each).app);
      const time = await bench.service.convert(call(each));
      // The first round warms the engines.
      if (round > 0)
        best.set(each, { milliseconds: Math.min(milliseconds, time), memory: Math.max(memory, peak()) });
      else peak();
    }
  }
  return { name, isDrawn, points: pages.map((each) => ({ pages: each, ...best.get(each)! })) };
}
