// Resizes local JPEG files with sharp, all files of a line at once. Per line: a JSON array of the box and the
// files. Argument: a directory.
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import sharp from 'sharp';

const directory = process.argv[2]!;
console.log('ready');
for await (const line of createInterface(process.stdin)) {
  const [width, height, fit, ...files] = JSON.parse(line) as [number, number, 'fill' | 'inside', ...string[]];
  const started = performance.now();
  const resize = (file: string) =>
    sharp(file)
      .resize(width, height, { fit })
      .jpeg({ quality: 92, chromaSubsampling: '4:4:4' })
      .toFile(join(directory, `small-${basename(file)}`));
  try {
    await Promise.all(files.map(resize));
    console.log(performance.now() - started);
  } catch (thrown) {
    console.log('failed', String(thrown).replaceAll('\n', ' '));
  }
}
