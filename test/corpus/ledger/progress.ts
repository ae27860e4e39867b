const WIDTH = 30;
const LINE_EVERY = 10_000;

/** Shows the progress of a run: a bar in a terminal, a line every ten seconds elsewhere. */
export function showProgress(total: number, output = process.stderr) {
  const started = Date.now();
  let done = 0;
  let misses = 0;
  let shownAt = 0;

  const text = () => {
    const seconds = (Date.now() - started) / 1000;
    const left = done === 0 ? '' : `, ${Math.round((seconds / done) * (total - done))} s left`;
    return `${done}/${total}, ${misses} missed, ${Math.round(seconds)} s${left}`;
  };
  const show = (last = false) => {
    const now = Date.now();
    if (!last && now - shownAt < (output.isTTY ? 100 : LINE_EVERY)) return;
    shownAt = now;
    const filled = Math.round((WIDTH * done) / Math.max(1, total));
    const bar = '#'.repeat(filled) + '.'.repeat(WIDTH - filled);
    output.write(output.isTTY ? `\r[${bar}] ${text()}\x1b[K${last ? '\n' : ''}` : `${text()}\n`);
  };
  return {
    step(missed: boolean) {
      done += 1;
      if (missed) misses += 1;
      show();
    },
    end: () => show(true),
  };
}
