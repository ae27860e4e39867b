import { markdownTable } from '../../report/table.ts';
import { writeLikeness } from '../readme.ts';
import { IMAGE_CASES } from './cases.ts';
import type { Trial } from './run.ts';

/**
 * Prints the differences, updates the table in the README if requested, and returns how many sets differ
 * without a reason.
 */
export function writeReport(trials: readonly Trial[], { write }: { write: boolean }): number {
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
    const lines = rows
      .filter(({ unlike }) => unlike.length > 0)
      .map(({ options, reason = '', worst }) => [
        `\`${options.replaceAll('_', ' ')}\``,
        reason,
        worst.toFixed(1),
      ]);
    const table = markdownTable(['options that differ', 'because', '#largest mean difference, 0–255'], lines);
    writeLikeness('imageproc', `${summary}\n\n${table}`);
  }
  return unexplained.length;
}
