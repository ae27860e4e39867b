// Draws page 1 of PDFs at 72 DPI as JPEG with the PDFium process of our layer and nothing around it. Per
// line: a file and the size of its page. Argument: a directory.
import { spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { nativeEngine } from '../../../functions/engines/worker/native.ts';

const directory = process.argv[2]!;
const layers = join(import.meta.dirname, '../../../dist/layers');
const options = { layers: ['fonts'], args: [join(layers, 'fonts/faces')] };
const { command, args, environment } = nativeEngine({ layers }, 'pdfium', options)(directory);
const host = spawn(command, args, { env: environment, stdio: ['pipe', 'ignore', 'inherit', 'pipe'] });
let onEnd = () => {};
createInterface(host.stdio[3] as Readable).on(
  'line',
  (line) => /"(result|error|ready)"/.test(line) && onEnd(),
);
const ended = () => new Promise<void>((resolve) => (onEnd = resolve));
await ended();
console.log('ready');
const copy = join(directory, 'alone.pdf');
let id = 0;
for await (const line of createInterface(process.stdin)) {
  const [file, width, height] = JSON.parse(line) as [string, number, number];
  await copyFile(file, copy);
  const started = performance.now();
  id += 1;
  const drawing = { color: 'rgb', transparent: 0, annotations: 1, trim: 0, turns: 0, stacked: 0 };
  const pages = [1, width, height, 0, 0, width, height, 0, 72, 72].join(' ');
  const encoding = { format: 'jpg', quality: 90 };
  const request = { kind: 'draw', id: String(id), source: copy, directory, pages, ...drawing, ...encoding };
  host.stdin!.write(`${JSON.stringify(request)}\n`);
  await ended();
  console.log(performance.now() - started);
}
host.kill('SIGKILL');
