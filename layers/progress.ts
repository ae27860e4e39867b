import type { WriteStream } from 'node:tty';

/** Shows the progress of a build. */
interface Progress {
  /** Shows the name of the current step. */
  step(text: string): void;
  /** Ends the line of the current step, if there is one. */
  end(): void;
}

/**
 * Shows the steps of a build. A terminal shows them on one line that is rewritten, other outputs on separate lines.
 */
export function createProgress(
  name: string,
  stream: Pick<WriteStream, 'write' | 'columns'> & { readonly isTTY?: boolean } = process.stdout,
): Progress {
  const started = Date.now();
  let text: string | undefined;
  const show = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const line = `${name}: ${text} … ${seconds} s`.slice(0, (stream.columns || 80) - 1);
    // Clears the line first, because the previous one may have been longer.
    stream.write(`\r\x1b[2K${line}`);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    step(next) {
      text = next;
      if (!stream.isTTY) return void stream.write(`${name}: ${text}\n`);
      timer ??= setInterval(show, 1000).unref();
      show();
    },
    end() {
      clearInterval(timer);
      if (stream.isTTY && text !== undefined) stream.write('\n');
    },
  };
}
