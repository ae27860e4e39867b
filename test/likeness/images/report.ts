import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGE_CASES } from './cases.ts';
import type { Trial } from './run.ts';

const README = join(import.meta.dirname, '../../../functions/imageproc/README.md');
const SECTION = /(<!-- likeness -->\n)[\s\S]*?(<!-- end likeness -->)/;

/**
 * Prints the differences, updates the table in the README if requested, and returns how many sets differ
 * without a reason.
 */
export async function writeReport(trials: readonly Trial[], { write }: { write: boolean }): Promise<number> {
  const rows = IMAGE_CASES.map(({ options, reason }) => {
    const own = trials.filter((trial) => trial.options === options);
    const unlike = own.filter(({ verdict }) => verdict !== 'same');
    const worst = Math.max(...own.map(({ difference = 0 }) => (Number.isNaN(difference) ? 255 : difference)));
    return { options, reason, own, unlike, worst };
  });
  for (const { unlike, reason } of rows) {
    for (const { options, source, ours, theirs, difference, error } of unlike) {
      const what =
        error ?? (ours === theirs ? `difference ${difference?.toFixed(2)}` : `${ours} against ${theirs}`);
      console.log(`${reason ? 'known' : 'DIFFERS'}  ${options}  ${source}  ${what}`);
    }
  }
  const unexplained = rows.filter(({ unlike, reason }) => unlike.length > 0 && !reason);
  const images = new Set(trials.map(({ source }) => source)).size;
  const alike = rows.filter(({ unlike }) => unlike.length === 0).length;
  const summary = `${rows.length} option sets with ${images} images: ${alike} the same, ${rows.length - alike - unexplained.length} differ for a known reason, ${unexplained.length} differ without one.`;
  console.log(summary);
  if (write) {
    const lines = rows.map(({ options, reason, unlike, worst }) => {
      const verdict = unlike.length === 0 ? 'same' : reason ? `differs because ${reason}` : 'differs';
      return `| \`${options.replaceAll('_', ' ').replaceAll('|', '\\|')}\` | ${verdict} | ${worst.toFixed(1)} |`;
    });
    const table = [
      '| options | against ImageMagick 7 | largest mean difference, 0–255 |',
      '| --- | --- | ---: |',
      ...lines,
    ];
    const readme = await readFile(README, 'utf8');
    await writeFile(README, readme.replace(SECTION, `$1\n${summary}\n\n${table.join('\n')}\n\n$2`));
  }
  return unexplained.length;
}
