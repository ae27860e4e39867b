const INTERVAL = 10_000;
const TERMINAL_INTERVAL = 100;

/** Shows how far a run is: one line that is overwritten in a terminal, a line every ten seconds elsewhere. */
export function showProgress(output = process.stderr) {
  let shown = output.isTTY ? 0 : Date.now();
  return {
    show(text: string): void {
      if (Date.now() - shown < (output.isTTY ? TERMINAL_INTERVAL : INTERVAL)) return;
      shown = Date.now();
      output.write(output.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
    },
    end: () => void (output.isTTY && output.write('\r\x1b[K')),
  };
}
