// Draws page 1 of PDFs at 72 DPI as JPEG with the PDFium process of our layer and nothing around it. Per
// line: a file and the size of its page. Argument: a directory.
import { spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Request } from '../../../functions/engines/protocol.ts';
import { nativeEngine } from '../../../functions/engines/worker/sandbox.ts';

const directory = process.argv[2]!;
const layers = join(import.meta.dirname, '../../../dist/layers');
const start = nativeEngine(
  { layers },
  { layer: 'pdf', program: 'pdfium', reads: ['fonts'], args: () => [join(layers, 'fonts/faces')] },
);
const { command, args, environment } = start(directory);
const host = spawn(command, args, { env: environment, stdio: ['pipe', 'ignore', 'inherit', 'pipe'] });
let onEnd = (_: string) => {};
createInterface(host.stdio[3] as Readable).on(
  'line',
  (line) => /"(result|error|ready|unstarted|unusable)"/.test(line) && onEnd(line),
);
host.once('exit', (code, signal) => onEnd(`"error": it ended with ${code ?? signal}`));
const ended = () => new Promise<string>((resolve) => (onEnd = resolve));
const first = await ended();
console.log(first.includes('"ready"') ? 'ready' : `failed: ${first}`);
const source = 'alone.pdf';
let id = 0;
for await (const line of createInterface(process.stdin)) {
  const [file, width, height] = JSON.parse(line) as [string, number, number];
  await copyFile(file, join(directory, source));
  const started = performance.now();
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
  console.log(answer.includes('"result"') ? performance.now() - started : `failed: ${answer}`);
}
host.kill('SIGKILL');
