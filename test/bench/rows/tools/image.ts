import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Driven, startDriven } from '../../peers/driven.ts';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

const SCRIPT = join(import.meta.dirname, '../../peers/drive-sharp.ts');

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
  return compare(bench, '12 MP JPEG to 1200x900 jpg', [bench.inputs.photo], {
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
    return await compare(bench, `${photos.length} thumbnails of 1 to 2 MP, all at once`, [photos], {
      ours: async () => {
        const started = performance.now();
        await Promise.all(calls.map((call) => bench.service.convert(call)));
        return performance.now() - started;
      },
      peers: [
        {
          name: 'a script around sharp',
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
  return startDriven(process.execPath, [SCRIPT, folder]);
}
