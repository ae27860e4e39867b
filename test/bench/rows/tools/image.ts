import { join } from 'node:path';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

/** A photograph of 12 megapixels, reduced in size. */
export async function measureImage(bench: Bench): Promise<Row[]> {
  const { imagemagick, vipsthumbnail } = bench.peers.found;
  if (!bench.tools.has('imageproc')) return [];
  const run = (program: string, args: (output: string) => readonly string[]) =>
    inDirectory(bench.directory, async (directory) => {
      return (await runProgram(program, args(join(directory, 'small.jpg')))).milliseconds;
    });
  const sides = [
    imagemagick && {
      name: 'ImageMagick',
      target: 0.2,
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
