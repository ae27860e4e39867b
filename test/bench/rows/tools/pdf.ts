import { join } from 'node:path';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

/** With our default quality. */
const JPEG = ['-jpeg', '-jpegopt', 'quality=90'];

/** Page 1 of many PDFs, and all pages of a long one. */
export async function measurePdf(bench: Bench): Promise<Row[]> {
  const { found } = bench.peers;
  const { inputs, quick, urlOf, directory } = bench;
  const draw = (program: string, args: (out: string) => readonly string[]) =>
    inDirectory(directory, async (out) => (await runProgram(program, args(out))).milliseconds);
  const pdftoppm = (file: string, options: readonly string[]) =>
    draw(found.pdftoppm!, (out) => [...options, file, join(out, 'page')]);
  const rows: Row[] = [];

  const firstPage = [
    found.pdftoppm && {
      name: 'pdftoppm',
      target: 0.45,
      run: (file: string) => pdftoppm(file, [...JPEG, '-r', '72', '-f', '1', '-l', '1']),
    },
    found.mutool && {
      name: 'mutool',
      target: 0.4,
      run: (file: string) =>
        draw(found.mutool!, (out) => ['draw', '-q', '-r', '72', '-o', join(out, 'page.png'), file, '1']),
    },
  ];
  rows.push(
    ...(await compare(bench, 'PDF page 1, 72 DPI, to jpg', inputs.pdfs, {
      ours: (file) => ({
        app: 'pdftools',
        infile: urlOf(file),
        outfile: 'page.jpg',
        options: { '-r': 72 },
      }),
      peers: firstPage.filter((side) => side !== undefined && side !== ''),
      seconds: quick ? 6 : 30,
    })),
  );

  const { book, photo } = inputs;
  const [one, other] = inputs.pdfs.filter((file) => file.endsWith('-60.pdf'));
  const run = (program: string | undefined, name: string, args: (out: string) => readonly string[]) =>
    program ? [{ name, run: () => draw(program, (out) => args(join(out, 'out.pdf'))) }] : [];
  const written = (infile: string, outfile: string, options: Readonly<Record<string, string>>) => {
    return () => ({ app: 'pdftools', infile: urlOf(infile), outfile, options }) as const;
  };
  if (one && other) {
    const peers = [
      ...run(found.qpdf, 'qpdf', (out) => ['--empty', '--pages', one, other, '--', out]),
      ...run(found.pdfunite, 'pdfunite', (out) => [one, other, out]),
    ];
    const ours = written(one, 'merged.pdf', { '-append': urlOf(other) });
    rows.push(...(await compare(bench, 'two PDFs of 60 pages merged', [one], { ours, peers, seconds: 10 })));
  }
  const splitting = run(found.qpdf, 'qpdf', (out) => ['--split-pages=10', book, out]);
  const split = { ours: written(book, 'part.pdf.zip', { '-split': '10' }), peers: splitting, seconds: 10 };
  rows.push(...(await compare(bench, '117 pages split into files of 10', [book], split)));
  const images = run(found.img2pdf, 'img2pdf', (out) => [photo, '-o', out]);
  const ours = () => ({ app: 'imageproc', infile: urlOf(photo), outfile: 'photo.pdf' }) as const;
  rows.push(...(await compare(bench, '12 MP JPEG to PDF', [photo], { ours, peers: images, seconds: 5 })));

  if (!found.pdftoppm) return rows;
  const last = quick ? 12 : 117;
  for (const { format, flags, target } of [
    { format: 'jpg', flags: JPEG, target: 0.4 },
    { format: 'png', flags: ['-png'], target: 0.04 },
  ]) {
    const options = ['-r', '144', '-f', '1', '-l', String(last)];
    rows.push(
      ...(await compare(bench, `${last} pages, 144 DPI, to ${format} in a zip`, [inputs.book], {
        ours: (file) => ({
          app: 'pdftools',
          infile: urlOf(file),
          outfile: `page.${format}.zip`,
          options: { '-r': 144, '-l': last },
        }),
        peers: [{ name: 'pdftoppm', target, run: (file) => pdftoppm(file, [...flags, ...options]) }],
        seconds: quick ? 4 : 30,
        probe: false,
      })),
    );
  }
  return rows;
}
