import { spawn } from 'node:child_process';

/** Programs a layer build runs, and the Debian package a machine without them needs. */
const PACKAGE: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  'dpkg-deb': 'dpkg',
};

/**
 * Runs a program to its end and answers its standard output.
 * @throws Error what to install where the program is missing; the end of its own words where it failed.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      // Plain English, so that a message quoted below can be searched for.
      env: { ...process.env, LC_ALL: 'C.UTF-8', ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const noise: Buffer[] = [];
    child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => noise.push(bytes));
    child.on('error', (error) => reject(missing(command, error)));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(out).toString());
      const words = Buffer.concat(noise).toString().trim().slice(-2000);
      reject(new Error(`${command} ended with ${signal ?? code}: ${words}`));
    });
  });
}

function missing(command: string, cause: Error): Error {
  const name = PACKAGE[command] ?? command;
  return new Error(`'${command}' is needed and was not found: install the package '${name}'.`, { cause });
}
