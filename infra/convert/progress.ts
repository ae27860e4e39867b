import { printable } from '../../functions/shared/quote.ts';

/** Minimum milliseconds between two progress lines. */
const INTERVAL = 200;

/** Shows progress in a terminal. Shows failures everywhere. */
export function showProgress(
  total: number,
  {
    started = performance.now(),
    output = process.stderr,
  }: { started?: number; output?: NodeJS.WriteStream } = {},
) {
  let [converted, failed, shown] = [0, 0, 0];
  const clear = () => void (output.isTTY && output.write('\r\x1b[K'));
  const show = () => {
    if (!output.isTTY || performance.now() - shown < INTERVAL) return;
    shown = performance.now();
    const rate = (converted + failed) / ((shown - started) / 1000);
    const left = (total - converted - failed) / rate;
    output.write(
      `\r\x1b[K${converted + failed}/${total}, ${failed} failed, ${rate.toFixed(1)}/s, ${duration(left)} left`,
    );
  };
  const tell = (line: string) => {
    clear();
    // The name of an input may contain what controls a terminal.
    output.write(`${printable(line)}\n`);
    show();
  };
  return {
    tell,
    /** Shows what is being done before the first conversion. */
    starting(text: string) {
      if (output.isTTY) output.write(`\r\x1b[K${text}`);
    },
    converted() {
      converted += 1;
      show();
    },
    failed(line: string) {
      failed += 1;
      tell(line);
    },
    /** Returns what was done. */
    end() {
      clear();
      const seconds = (performance.now() - started) / 1000;
      return { converted, failed, time: duration(seconds) };
    },
  };
}

function duration(exact: number): string {
  const seconds = exact < 10 ? Math.round(10 * exact) / 10 : Math.round(exact);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
