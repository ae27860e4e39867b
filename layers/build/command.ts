import { ExecaError, execa } from 'execa';

/** The Debian package of each program that is named differently from its package. */
const PACKAGES: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  'apt-cache': 'apt',
  'dpkg-deb': 'dpkg',
};

/**
 * Runs a program and returns its standard output.
 * @throws Error with the package to install if the program is missing, or with the tail of stderr if it failed.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  try {
    const { stdout } = await execa(command, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      // English messages, so that the ones quoted in errors can be searched for.
      env: { LC_ALL: 'C.UTF-8', ...options.environment },
      stdin: 'ignore',
      stripFinalNewline: false,
    });
    return stdout;
  } catch (thrown) {
    if (!(thrown instanceof ExecaError)) throw thrown;
    if (thrown.code === 'ENOENT') {
      const name = PACKAGES[command] ?? command;
      throw new Error(`The program '${command}' was not found. Install the package '${name}'.`, {
        cause: thrown,
      });
    }
    const stderrTail = String(thrown.stderr ?? '')
      .trim()
      .slice(-2000);
    throw new Error(`${command} failed with ${thrown.signal ?? thrown.exitCode}: ${stderrTail}`);
  }
}

/**
 * Runs `work` for every item, at most `width` at the same time, and returns the results in the order of the items.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  // All lanes take their items from the same iterator.
  const entries = items.entries();
  const lane = async () => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
