import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePdf, numberedPages } from '../../../fixtures/pdf.ts';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';
import { startSuite } from './office.ts';

const OFFICE = ['letter.docx', 'list.xlsx', 'talk.pptx'] as const;
/** More pages than the documents have. */
const MAX_PAGES = 60;

/**
 * Three office documents and a photo in one PDF with page numbers, a stamp and a password. The peers are what a caller
 * would run one after the other. Their page numbers exist before.
 */
export async function measureTogether(bench: Bench): Promise<Row[]> {
  const { inputs, urlOf, directory, quick } = bench;
  const { qpdf, img2pdf, uno, soffice } = bench.peers.found;
  const work = '3 office documents and a photo to a numbered, stamped, encrypted PDF';
  if (!qpdf || !img2pdf || !uno || !soffice || !bench.wants(work)) return [];
  const at = (name: string) => join(inputs.folder, name);
  const [first, ...others] = [...OFFICE.map(at), inputs.photo];
  const stamp = at('text-1.pdf');
  const numbers = join(directory, 'numbers.pdf');
  await writeFile(numbers, makePdf(numberedPages(MAX_PAGES)));
  const suite = await startSuite(bench);
  const inSteps = () =>
    inDirectory(directory, async (out) => {
      const steps: number[] = [];
      const run = async (program: string, args: readonly string[]) => {
        steps.push((await runProgram(program, args)).milliseconds);
      };
      const parts = OFFICE.map((name) => join(out, `${name}.pdf`));
      for (const [index, name] of OFFICE.entries()) {
        steps.push(await suite.convert(at(name)));
        await copyFile(join(directory, 'uno.pdf'), parts[index]!);
      }
      const [photo, merged, stamped] = [
        join(out, 'photo.pdf'),
        join(out, 'merged.pdf'),
        join(out, 'stamped.pdf'),
      ];
      await run(img2pdf, ['--pagesize', 'A4', inputs.photo, '-o', photo]);
      await run(qpdf, ['--empty', '--pages', ...parts, photo, '--', merged]);
      // Older versions of qpdf draw only one file over another.
      await run(qpdf, [merged, '--overlay', stamp, '--repeat=1', '--', stamped]);
      const encrypted = ['--encrypt', 'secret', 'owner', '256', '--'];
      await run(qpdf, [stamped, '--overlay', numbers, '--', ...encrypted, join(out, 'result.pdf')]);
      return steps.reduce((sum, step) => sum + step, 0);
    });
  const options = {
    '-append': others.map(urlOf),
    '-stamp': urlOf(stamp),
    '-number': 'Page %p of %n',
    '-encrypt': 'secret',
  };
  try {
    return await compare(bench, work, [first!], {
      ours: () => ({ app: 'pdftools', infile: urlOf(first!), outfile: 'offer.pdf', options }),
      peers: [{ name: 'soffice kept warm, img2pdf and qpdf', run: inSteps }],
      seconds: quick ? 5 : 20,
    });
  } finally {
    await suite.close();
  }
}
