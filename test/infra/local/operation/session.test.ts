import { getPriority } from 'node:os';
import { afterEach, expect, it } from 'vitest';
import { readProcess } from '../../../../functions/shared/worker/linux/proc.ts';
import { processesBelow } from '../../../service/server/leftovers.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
afterEach(() => server.close());

/** Process group and session; see proc_pid_stat(5). */
function groupAndSession(pid: number): readonly number[] {
  const [, , group, session] = readProcess(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  return [group!, session!];
}

it('keeps its engines in its session, outside its process group, and with a lower priority', async () => {
  server = await startServer();
  const [own, session] = groupAndSession(server.pid);

  const engines = processesBelow(server.directory).filter(({ pid }) => pid !== server.pid);

  expect(engines.length).toBeGreaterThan(4);
  for (const { pid, command } of engines) {
    const [group, sessionOf] = groupAndSession(pid);
    expect(sessionOf, command).toBe(session);
    expect(group, command).not.toBe(own);
    expect(getPriority(pid), command).toBeGreaterThan(getPriority(server.pid));
  }
});
