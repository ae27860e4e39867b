import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ConversionError } from '../../functions/shared/errors.ts';
import { choice, flag, integer, repeatable, text } from '../../functions/shared/options/option.ts';
import type { Conversion, Engine, OptionsOf, Tool } from '../../functions/shared/tool.ts';

/** A tool for tests that copies its source `-copies` times. */
export const tiny = {
  name: 'tiny',
  summary: 'Copies.',
  source: 'file',
  formats: ['png', 'jpg'],
  paged: ['png'],
  options: {
    copies: integer(['-copies', '-c'], { min: 1, max: 1000, default: 1, description: 'copies' }),
    fault: choice('-fault', ['typed', 'private', 'hang', 'nothing'], { description: 'what goes wrong' }),
    gray: flag('-gray', { description: 'gray', off: '--no-gray' }),
    notes: repeatable(text('--note', { description: 'notes' })),
    kind: text('in_ext', { max: 10, description: 'kind of source' }),
  },
  ignored: ['-q', '-verbose'],
  refused: ['-write'],
  sizing: { memory: 128, layers: [] },
  example: { infile: 'a.pdf', outfile: 'a.png', url: 'https://example.com/', seconds: { warm: 1, start: 1 } },
} as const satisfies Tool;

/** A tool for tests that opens a URL itself, so nothing is downloaded for it. */
export const tinyPage = {
  ...tiny,
  name: 'tinypage',
  source: 'page',
  formats: ['pdf'],
  paged: [],
  options: { width: integer('--width', { min: 1, max: 10, default: 5, description: 'width' }) },
} as const satisfies Tool;

export interface TinyEngine extends Engine<typeof tiny> {
  /** The conversions that it was called with. */
  readonly conversions: Array<Conversion<OptionsOf<typeof tiny>>>;
}

/** Creates the engine of `tiny`. */
export function createTinyEngine(): TinyEngine {
  const conversions: Array<Conversion<OptionsOf<typeof tiny>>> = [];
  return {
    conversions,
    async convert(conversion) {
      conversions.push(conversion);
      const { source, options, directory, signal } = conversion;
      const { copies, fault } = options;
      if (fault === 'typed') throw new ConversionError('CORRUPT_SOURCE', 'The document is damaged.');
      if (fault === 'private') throw new Error(`broken at ${directory}`);
      if (fault === 'hang') await setTimeout(60_000, undefined, { signal });
      const content = await readFile(source.path);
      const pages = Array.from({ length: fault === 'nothing' ? 0 : copies }, (_, index) => index + 1);
      return {
        pageCount: copies,
        outputs: (async function* () {
          for (const page of pages) {
            const path = join(directory, randomUUID());
            await writeFile(path, content);
            yield { path, page };
          }
        })(),
      };
    },
    close: async () => {},
  };
}

/** A PNG with one white pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTQ0NgAAAABJRU5ErkJggg==',
  'base64',
);
