import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TWO_WORDS = /^[-+](annotate|distort|evaluate|floodfill|function|morphology|sparse-color|statistic)$/;

/** Options whose ImageMagick arguments are a word and its value, or a bare word. */
export function toArguments(options: string): string[] {
  return options
    .split(' ')
    .filter(Boolean)
    .flatMap((option) => {
      const at = option.indexOf('=');
      if (at < 0) return [option];
      const [name, value] = [
        option.slice(0, at),
        option
          .slice(at + 1)
          .replaceAll('_', ' ')
          .replace('\\!', '!'),
      ];
      // ImageMagick expects two arguments.
      const pair = TWO_WORDS.test(name) ? /^(\S+) (.*)$/.exec(value) : null;
      return pair ? [name, pair[1]!, pair[2]!] : [name, value];
    });
}

/** Converts the first frame with ImageMagick, with our defaults: frames are complete, upright and on white. */
export async function convertWithImageMagick(
  source: string,
  output: string,
  args: readonly string[],
): Promise<void> {
  // Only frames of an animation belong on a canvas. Scans can have an offset, by which ImageMagick would shift them.
  const complete = /\.(gif|webp)$/i.test(source) ? ['-coalesce'] : ['+repage'];
  const defaults = [...complete, '-auto-orient', '+repage', '-background', 'white'];
  await run('magick', [`${source}[0]`, ...defaults, ...args, '+repage', output], { timeout: 60_000 });
}

/** Returns whether ImageMagick is installed. */
export async function hasImageMagick(): Promise<boolean> {
  return run('magick', ['-version']).then(
    () => true,
    () => false,
  );
}
