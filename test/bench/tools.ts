import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { median, watchMemory } from './measure.ts';
import { DRIVE, type Driven, runProgram, startDriven } from './peers.ts';
import { type Bench, compare, inDirectory, type Row } from './row.ts';
import type { Call } from './service.ts';

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
      ...(await compare(bench, `${last} pages, 144 DPI, to ${format}`, [inputs.book], {
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

const DRIVE_OFFICE = join(import.meta.dirname, 'drive-office.py');

/** Office documents to PDF, compared with a process per file and with a suite that a script keeps running. */
export function measureOffice(bench: Bench): Promise<Row[]> {
  return withSuites(bench, (perFile, warm) =>
    compare(bench, 'office document to PDF', bench.inputs.documents, {
      ours: callOf(bench),
      peers: [
        { name: 'soffice', target: 0.07, run: perFile },
        ...(warm ? [{ name: 'warm soffice', target: 0.85, run: warm.convert }] : []),
      ],
      seconds: bench.quick ? 6 : 60,
    }),
  );
}

/** Long documents, with a row for each, and the peak memory of our conversion. */
export function measureLarge(bench: Bench): Promise<Row[]> {
  return withSuites(bench, async (perFile, warm) => {
    const rows: Row[] = [];
    for (const { file, name } of bench.inputs.large) {
      const ours = callOf(bench);
      const peak = bench.wants(name) ? watchMemory(bench.service.pid, 'doc2any') : () => 0;
      const compared = await compare(bench, name, [file], {
        ours,
        peers: [
          { name: 'soffice', target: 0.8, run: perFile },
          ...(warm ? [{ name: 'warm soffice', target: 1, run: warm.convert }] : []),
        ],
        seconds: bench.quick ? 1 : 45,
        probe: false,
      });
      const memory = peak();
      rows.push(
        ...compared.map((row) => ({ ...row, note: `${row.note}, ours at most ${memory.toFixed(0)} MiB` })),
      );
    }
    return rows;
  });
}

async function withSuites(
  bench: Bench,
  measure: (perFile: (file: string) => Promise<number>, warm: Driven | undefined) => Promise<Row[]>,
): Promise<Row[]> {
  const { soffice, uno } = bench.peers.found;
  const { directory } = bench;
  if (!soffice) return [];
  // One profile for all, because the time to create one would count for the peer.
  const profile = `-env:UserInstallation=${pathToFileURL(join(directory, 'profile'))}`;
  const perFile = (file: string) =>
    inDirectory(directory, async (out) => {
      const args = [profile, '--headless', '--convert-to', 'pdf', '--outdir', out, file];
      const { milliseconds, text } = await runProgram(soffice, args);
      if (!text.includes(' using filter ')) throw new Error(text);
      return milliseconds;
    });
  const warm = uno ? await startSuite(bench) : undefined;
  try {
    return await measure(perFile, warm);
  } finally {
    await warm?.close();
  }
}

/** Starts an office suite that stays running, driven over UNO. */
export function startSuite({ peers, directory }: Bench): Promise<Driven> {
  const { uno = '', soffice = '' } = peers.found;
  return startDriven(uno, [DRIVE_OFFICE, soffice, join(directory, 'uno.pdf')], { onlyPasses: true });
}

function callOf({ urlOf }: Bench) {
  return (file: string): Call => ({ app: 'doc2any', infile: urlOf(file), outfile: 'document.pdf' });
}

const COMMAND = join(import.meta.dirname, '../../infra/convert/start.mjs');

/** The command, started anew for each file, like the peers. */
export async function measureCommand(bench: Bench): Promise<Row[]> {
  const { inputs, directory } = bench;
  const { pdftoppm } = bench.peers.found;
  const docmill = async (args: (out: string) => readonly string[]) =>
    inDirectory(directory, async (out) => (await runProgram(COMMAND, args(out))).milliseconds);
  const rows = await withSuites(bench, (perFile) => {
    const letter = inputs.documents.filter((file) => file.endsWith('letter.docx'));
    const ours = (file: string) => docmill((out) => [file, '--to', join(out, 'letter.pdf')]);
    const peers = [{ name: 'soffice', target: 1, run: perFile }];
    return compare(bench, 'the command, docx to PDF', letter, { ours, peers, seconds: 30 });
  });
  if (pdftoppm) {
    const page = inputs.pdfs.filter((file) => file.endsWith('text-12.pdf'));
    const ours = (file: string) => docmill((out) => [file, '--to', join(out, 'page.jpg'), '-r', '72']);
    const run = (file: string) =>
      inDirectory(directory, async (out) => {
        const args = [...JPEG, '-r', '72', '-l', '1', file, join(out, 'page')];
        return (await runProgram(pdftoppm, args)).milliseconds;
      });
    const peers = [{ name: 'pdftoppm', run }];
    rows.push(...(await compare(bench, 'the command, one PDF page', page, { ours, peers, seconds: 15 })));
  }
  const work = 'the command, --help';
  if (!bench.wants(work)) return rows;
  const times: number[] = [];
  for (let count = 0; count < 10; count += 1) times.push(await docmill(() => ['--help']));
  const value = median(times);
  return [...rows, { work, peer: '', unit: 'ms', ours: value, value, target: 150 }];
}

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
      peers: [{ name: 'warm soffice, img2pdf and qpdf', run: inSteps }],
      seconds: quick ? 5 : 20,
    });
  } finally {
    await suite.close();
  }
}

// As root, Chromium refuses to start with its sandbox.
const CHROMIUM = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
// The Debian build draws with Qt, which looks for a display unless told otherwise.
const NO_DISPLAY = { QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: '/tmp' };

/** Outputs of pages, with targets relative to a process per page, wkhtmltox, and a warm browser. */
const KINDS = [
  {
    app: 'html2pdf',
    work: 'web page to PDF',
    extension: 'pdf',
    print: 'print-to-pdf',
    classic: 'wkhtmltopdf',
    targets: { chromium: 0.08, classic: 0.25, idle: 0.3, load: 1 },
  },
  {
    app: 'html2image',
    work: 'web page to PNG',
    extension: 'png',
    print: 'screenshot',
    classic: 'wkhtmltoimage',
    targets: { chromium: 0.1, classic: 0.3, idle: 0.3, load: 1 },
  },
] as const;

/** Web pages to PDF and to an image. */
export async function measureWeb(bench: Bench): Promise<Row[]> {
  const warm = bench.peers.found.chromium ? await startBrowser(bench) : undefined;
  try {
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(...(await measureKind(bench, kind, warm)));
    return rows;
  } finally {
    await warm?.close();
  }
}

/** Starts a script that keeps one browser. */
export async function startBrowser({ peers, directory }: Bench): Promise<Driven> {
  const folder = join(directory, 'browser');
  await mkdir(folder, { recursive: true });
  return startDriven(process.execPath, [DRIVE, 'browser', peers.found.chromium!, folder]);
}

async function measureKind(
  bench: Bench,
  { app, work, extension, print, classic, targets }: (typeof KINDS)[number],
  warm: Driven | undefined,
): Promise<Row[]> {
  const { chromium, [classic]: old } = bench.peers.found;
  const run = (program: string, args: (directory: string, output: string) => readonly string[]) =>
    inDirectory(bench.directory, async (directory) => {
      const output = join(directory, `page.${extension}`);
      return (await runProgram(program, args(directory, output), NO_DISPLAY)).milliseconds;
    });
  const perPage = (page: string) =>
    run(chromium!, (directory, output) => [
      ...CHROMIUM,
      `--user-data-dir=${join(directory, 'profile')}`,
      `--${print}=${output}`,
      '--window-size=1024,768',
      bench.urlOf(page),
    ]);
  const kept = (waitUntil: string) => (page: string) =>
    warm!.convert(JSON.stringify([extension, waitUntil, bench.urlOf(page)]));
  return compare(bench, work, bench.inputs.pages, {
    ours: (page) => ({ app, infile: bench.urlOf(page), outfile: `page.${extension}` }),
    peers: [
      ...(chromium ? [{ name: 'chromium', target: targets.chromium, run: perPage }] : []),
      ...(old
        ? [
            {
              name: classic,
              target: targets.classic,
              run: (page: string) => run(old, (_directory, output) => ['-q', bench.urlOf(page), output]),
            },
          ]
        : []),
      ...(warm
        ? [
            { name: 'puppeteer, idle', target: targets.idle, run: kept('networkidle0') },
            { name: 'puppeteer, load', target: targets.load, run: kept('load') },
          ]
        : []),
    ],
    seconds: bench.quick ? 4 : 45,
  });
}

/** A photograph of 12 megapixels, reduced in size. */
export async function measureImage(bench: Bench): Promise<Row[]> {
  const { imagemagick, vipsthumbnail } = bench.peers.found;
  const run = (program: string, args: (output: string) => readonly string[]) =>
    inDirectory(bench.directory, async (directory) => {
      return (await runProgram(program, args(join(directory, 'small.jpg')))).milliseconds;
    });
  const sides = [
    imagemagick && {
      name: 'ImageMagick',
      target: 0.15,
      run: (file: string) =>
        run(imagemagick, (output) => [file, '-resize', '1200x900!', '-quality', '92', output]),
    },
    vipsthumbnail && {
      name: 'vipsthumbnail',
      target: 0.5,
      run: (file: string) =>
        run(vipsthumbnail, (output) => [file, '-s', '1200x900!', '-o', `${output}[Q=92]`]),
    },
  ];
  return compare(bench, '12 MP JPEG to 1200x900', [bench.inputs.photo], {
    ours: (file) => ({
      app: 'imageproc',
      infile: bench.urlOf(file),
      outfile: 'small.jpg',
      options: { '-resize': '1200x900!' },
    }),
    peers: sides.filter((side) => side !== undefined && side !== ''),
    seconds: bench.quick ? 3 : 15,
    probe: false,
  });
}

/** Many concurrent calls, compared with a script that has local files. */
export async function measureThumbnails(bench: Bench): Promise<Row[]> {
  const { photos } = bench.inputs;
  const script = await startSharp(bench);
  const calls = photos.map((file, index) => ({
    app: 'imageproc',
    infile: bench.urlOf(file),
    outfile: `${index}.jpg`,
    options: { '-thumbnail': '200x200' },
  }));
  try {
    return await compare(bench, `${photos.length} thumbnails at once`, [photos], {
      ours: async () => {
        const started = performance.now();
        await Promise.all(calls.map((call) => bench.service.convert(call)));
        return performance.now() - started;
      },
      peers: [
        {
          name: 'a sharp script',
          target: 1.5,
          run: (files) => script.convert(JSON.stringify([200, 200, 'inside', ...files])),
        },
      ],
      seconds: bench.quick ? 5 : 40,
      probe: false,
    });
  } finally {
    await script.close();
  }
}

/** Starts a script that resizes with sharp. */
export async function startSharp({ directory }: Bench): Promise<Driven> {
  const folder = join(directory, 'sharp');
  await mkdir(folder, { recursive: true });
  return startDriven(process.execPath, [DRIVE, 'sharp', folder]);
}
