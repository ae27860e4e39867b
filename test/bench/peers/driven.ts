import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { processTime } from '../measure/processes.ts';

/** A program that keeps running between conversions. */
export interface Driven {
  /** Runs the conversion in a line and returns its milliseconds, without the program's own start. */
  convert(line: string): Promise<number>;
  /** Milliseconds of CPU time of its children, and of the program itself unless it only passes work on. */
  time(): number;
  close(): Promise<void>;
}

/**
 * Starts a program that writes `ready`, and for each line that it reads the milliseconds of its work or
 * `failed` and why.
 */
export async function startDriven(
  program: string,
  args: readonly string[],
  { onlyPasses = false }: { readonly onlyPasses?: boolean } = {},
): Promise<Driven> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = on(createInterface(child.stdout), 'line', { close: ['close'] });
  const next = async () =>
    String(((await lines.next()).value as [string] | undefined)?.[0] ?? 'failed: it has ended');
  const first = await next();
  if (first !== 'ready') throw new Error(`${args[0]}: ${first}`);
  return {
    async convert(line) {
      child.stdin.write(`${line}\n`);
      const reply = await next();
      if (reply.startsWith('failed')) throw new Error(reply);
      return Number(reply);
    },
    time: () => processTime(child.pid!) - (onlyPasses ? readStat(child.pid!).cpuTime : 0),
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
