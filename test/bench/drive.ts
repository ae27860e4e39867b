// Keeps an engine and converts with it alone, as a script would: `browser CHROMIUM FOLDER`, `pdfium FOLDER` or `sharp FOLDER`. Writes
// `ready`, and for each line with a JSON array the milliseconds of its work, or `failed` and why.
import { spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { PuppeteerLifeCycleEvent } from 'puppeteer-core';
import type { Request } from '../../functions/engines/protocol.ts';

/** Prepares an engine, and returns the work of a line, which returns when it began, and what ends the engine. */
type Driver = (...args: readonly string[]) => Promise<{
  convert(...line: readonly never[]): Promise<number>;
  close?(): unknown;
}>;

const DRIVERS: Readonly<Record<string, Driver>> = { browser, pdfium, sharp };

const [kind, ...given] = process.argv.slice(2);
try {
  const { convert, close } = await DRIVERS[kind!]!(...given);
  console.log('ready');
  for await (const line of createInterface(process.stdin)) {
    console.log(
      await convert(...(JSON.parse(line) as never[])).then(
        (began) => performance.now() - began,
        (thrown) => `failed ${String(thrown).replaceAll('\n', ' ')}`,
      ),
    );
  }
  await close?.();
} catch (thrown) {
  console.log(`failed: ${thrown}`);
}

/** Opens pages in one browser. A line has `pdf` or `png`, what to wait for, and the URL. */
async function browser(executablePath: string, directory: string) {
  const { launch } = await import('puppeteer-core');
  // As root, Chromium refuses to start with its sandbox.
  const args = ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
  const userDataDir = join(directory, 'browser');
  const running = await launch({ executablePath, args, userDataDir, headless: 'shell' });
  return {
    async convert(format: 'pdf' | 'png', waitUntil: PuppeteerLifeCycleEvent, url: string) {
      const began = performance.now();
      const page = await running.newPage();
      await page.setViewport({ width: 1024, height: 768 });
      await page.goto(url, { waitUntil });
      if (format === 'pdf') await page.pdf({ path: join(directory, 'warm.pdf'), format: 'A4' });
      else await page.screenshot({ path: join(directory, 'warm.png'), fullPage: true });
      await page.close();
      return began;
    },
    close: () => running.close(),
  };
}

/** Draws page 1 of PDFs at 72 DPI as JPEG with the PDFium process of our layer. A line has a file and the size of its page. */
async function pdfium(directory: string) {
  const { nativeEngine } = await import('../../functions/engines/worker/sandbox.ts');
  const layers = join(import.meta.dirname, '../../dist/layers');
  const args = () => [join(layers, 'fonts/faces')];
  const start = nativeEngine({ layers }, { layer: 'pdf', program: 'pdfium', reads: ['fonts'], args });
  const { command, args: own, environment } = start(directory);
  const host = spawn(command, own, { env: environment, stdio: ['pipe', 'ignore', 'inherit', 'pipe'] });
  let onEnd = (_: string) => {};
  createInterface(host.stdio[3] as Readable).on(
    'line',
    (line) => /"(result|error|ready|unstarted|unusable)"/.test(line) && onEnd(line),
  );
  host.once('exit', (code, signal) => onEnd(`"error": it ended with ${code ?? signal}`));
  const ended = () => new Promise<string>((resolve) => (onEnd = resolve));
  const first = await ended();
  if (!first.includes('"ready"')) throw new Error(first);
  const source = 'alone.pdf';
  let id = 0;
  return {
    async convert(file: string, width: number, height: number) {
      await copyFile(file, join(directory, source));
      const began = performance.now();
      id += 1;
      const size = { pageWidth: width, pageHeight: height, left: 0, top: 0, width, height };
      const request: Request = {
        id,
        directory,
        operation: 'draw',
        arguments: {
          document: String(id),
          source,
          cropBox: true,
          frames: [{ page: 1, ...size, xDensity: 72, yDensity: 72 }],
          oneFile: false,
          format: 'jpg',
          quality: 90,
          color: 'rgb',
          transparent: false,
          annotations: true,
          trim: false,
          turns: 0,
        },
        inputs: [source],
        outputs: ['page-1.jpg'],
      };
      host.stdin!.write(`${JSON.stringify(request)}\n`);
      const answer = await ended();
      if (!answer.includes('"result"')) throw new Error(answer);
      return began;
    },
    close: () => host.kill('SIGKILL'),
  };
}

/** Resizes local JPEG files, all files of a line at once. A line has the box, how to fit into it, and the files. */
async function sharp(directory: string) {
  const { default: read } = await import('sharp');
  return {
    async convert(width: number, height: number, fit: 'fill' | 'inside', ...files: string[]) {
      const began = performance.now();
      const resize = (file: string) =>
        read(file)
          .resize(width, height, { fit })
          .jpeg({ quality: 92, chromaSubsampling: '4:4:4' })
          .toFile(join(directory, `small-${basename(file)}`));
      await Promise.all(files.map(resize));
      return began;
    },
  };
}
