import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface UnoScript {
  /** Converts one document to PDF and returns the milliseconds, without the start of the script. */
  convert(path: string): Promise<number>;
  close(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./drive-office.py', import.meta.url));

/** Starts an office suite that keeps running, controlled over UNO by a Python script. */
export async function startUno(python: string, soffice: string, output: string): Promise<UnoScript> {
  const child = spawn(python, [SCRIPT, soffice, output], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = on(createInterface(child.stdout), 'line', { close: ['close'] });
  const next = async () =>
    String(((await lines.next()).value as [string] | undefined)?.[0] ?? 'failed: ended');
  const first = await next();
  if (first !== 'ready') throw new Error(`The UNO script says: ${first}`);
  return {
    async convert(path) {
      child.stdin.write(`${path}\n`);
      const answer = await next();
      if (answer.startsWith('failed')) throw new Error(answer);
      return Number(answer);
    },
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
