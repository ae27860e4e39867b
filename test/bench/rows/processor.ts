import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { processTime } from '../measure/processes.ts';
import { median } from '../measure/statistics.ts';
import { type Driven, startDriven } from '../peers/driven.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Bench, Row } from './row.ts';
import { startSharp } from './tools/image.ts';
import { startSuite } from './tools/office.ts';
import { startBrowser } from './tools/web.ts';

const PDFIUM = join(import.meta.dirname, '../peers/drive-pdfium.ts');

/** The engine alone on the same work as the sample call of a tool. */
interface Alone {
  readonly name: string;
  readonly line: string;
  start(): Promise<Driven>;
}

/** CPU time of one warm call, of all processes together, against that of the engine alone. */
export async function measureProcessor(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    const work = `CPU time of a warm call, ${call.app}`;
    const alone = engineAlone(bench, call.app);
    if (!bench.wants(work) || !alone) continue;
    bench.say(work);
    const engine = await alone.start();
    const sides = {
      ours: { run: () => bench.service.convert(call), time: () => processTime(bench.service.pid) },
      theirs: { run: () => engine.convert(alone.line), time: () => engine.time() },
    };
    const times = { ours: [] as number[], theirs: [] as number[] };
    try {
      for (let round = 0; round <= 3; round += 1) {
        for (const side of ['ours', 'theirs'] as const) {
          const milliseconds = await timePerRun(sides[side], bench.quick ? 500 : 2500);
          // The first round warms both.
          if (round > 0) times[side].push(milliseconds);
        }
      }
    } finally {
      await engine.close();
    }
    const [ours, theirs] = [median(times.ours), median(times.theirs)];
    rows.push({ work, peer: alone.name, unit: 'ms', ours, theirs, value: ours / theirs, target: 1.25 });
  }
  return rows;
}

/** CPU time is counted in steps of 10 ms, so many runs are added up. */
async function timePerRun(
  { run, time }: { run: () => Promise<unknown>; time: () => number },
  milliseconds: number,
): Promise<number> {
  const before = time();
  const end = performance.now() + milliseconds;
  let runs = 0;
  for (; performance.now() < end; runs += 1) await run();
  return (time() - before) / runs;
}

function engineAlone(bench: Bench, tool: string): Alone | undefined {
  const { found } = bench.peers;
  const file = (name: string) => join(bench.inputs.folder, name);
  const page = bench.urlOf(file('note.html'));
  switch (tool) {
    case 'pdftools':
      return {
        name: 'the PDFium process',
        line: JSON.stringify([file('text-12.pdf'), 596, 842]),
        async start() {
          const folder = join(bench.directory, 'pdfium');
          await mkdir(folder, { recursive: true });
          return startDriven(process.execPath, [PDFIUM, folder], { onlyPasses: true });
        },
      };
    case 'imageproc':
      return {
        name: 'a script around sharp',
        line: JSON.stringify([400, 300, 'fill', file('photo.jpg')]),
        start: () => startSharp(bench),
      };
    case 'html2pdf':
    case 'html2image':
      return found.chromium
        ? {
            name: 'warm puppeteer, load',
            line: JSON.stringify([tool === 'html2pdf' ? 'pdf' : 'png', 'load', page]),
            start: () => startBrowser(bench),
          }
        : undefined;
    case 'doc2any':
      return found.soffice && found.uno
        ? { name: 'soffice kept warm, over UNO', line: file('letter.docx'), start: () => startSuite(bench) }
        : undefined;
    default:
      return undefined;
  }
}
