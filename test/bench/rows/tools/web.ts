import { join } from 'node:path';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

// As root, Chromium refuses to start with its sandbox.
const CHROMIUM = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
// The Debian build draws with Qt, which looks for a display unless told otherwise.
const NO_DISPLAY = { QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: '/tmp' };

/** Web pages to PDF and to an image. */
export async function measureWeb(bench: Bench): Promise<Row[]> {
  const { chromium, wkhtmltopdf, wkhtmltoimage } = bench.peers.found;
  const rows: Row[] = [];
  for (const { app, work, extension, print, classic } of [
    {
      app: 'html2pdf',
      work: 'web page to PDF',
      extension: 'pdf',
      print: 'print-to-pdf',
      classic: wkhtmltopdf,
    },
    {
      app: 'html2image',
      work: 'web page to png',
      extension: 'png',
      print: 'screenshot',
      classic: wkhtmltoimage,
    },
  ]) {
    if (!bench.tools.has(app)) continue;
    const run = (program: string, args: (directory: string, output: string) => readonly string[]) =>
      inDirectory(bench.directory, async (directory) => {
        const output = join(directory, `page.${extension}`);
        return (await runProgram(program, args(directory, output), NO_DISPLAY)).milliseconds;
      });
    const sides = [
      chromium && {
        name: 'chromium',
        target: 0.15,
        run: (page: string) =>
          run(chromium, (directory, output) => [
            ...CHROMIUM,
            `--user-data-dir=${join(directory, 'profile')}`,
            `--${print}=${output}`,
            '--window-size=1024,768',
            bench.urlOf(page),
          ]),
      },
      classic && {
        name: `wkhtmlto${extension === 'pdf' ? 'pdf' : 'image'}`,
        target: 0.4,
        run: (page: string) => run(classic, (_directory, output) => ['-q', bench.urlOf(page), output]),
      },
    ];
    rows.push(
      ...(await compare(bench, work, bench.inputs.pages, {
        ours: (page) => ({ app, infile: bench.urlOf(page), outfile: `page.${extension}` }),
        peers: sides.filter((side) => side !== undefined && side !== ''),
        seconds: bench.quick ? 4 : 40,
      })),
    );
  }
  return rows;
}
