import { expect, it } from 'vitest';
import { createProgress } from '../../layers/progress.ts';

function record(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, columns: 30, write: (text: string) => written.push(text) > 0 };
  return { written, stream };
}

it('writes a line for each step if the output is not a terminal', () => {
  const { written, stream } = record(false);
  const progress = createProgress('Layer pdf', stream);

  progress.step('Downloading');
  progress.step('Compiling');
  progress.end();

  expect(written).toEqual(['Layer pdf: Downloading\n', 'Layer pdf: Compiling\n']);
});

it('rewrites one line in a terminal, never longer than the terminal is wide', () => {
  const { written, stream } = record(true);
  const progress = createProgress('Layer pdf', stream);

  progress.step('Downloading 3 packages of Debian trixie');
  progress.step('Compiling');
  progress.end();

  expect(written).toEqual([
    '\r\x1b[2KLayer pdf: Downloading 3 pack',
    '\r\x1b[2KLayer pdf: Compiling … 0 s',
    '\n',
  ]);
});

it('writes nothing for a build that has nothing to do', () => {
  const { written, stream } = record(true);

  createProgress('Layer pdf', stream).end();

  expect(written).toEqual([]);
});
