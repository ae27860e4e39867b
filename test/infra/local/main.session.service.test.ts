import { getPriority } from 'node:os';
import { afterEach, expect, it } from 'vitest';
import { readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { sessionOf } from '../../functions/engines/worker/linux/session-of.ts';
import { processesBelow } from '../../service/server/leftovers.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
afterEach(() => server.close());

it('keeps its engines in its session, outside its process group, and with a lower priority', async () => {
  server = await startServer();
  const engines = processesBelow(server.directory).filter(({ pid }) => pid !== server.pid);

  expect(engines.length).toBeGreaterThan(4);
  for (const { pid, command } of engines) {
    expect(sessionOf(pid), command).toBe(sessionOf(server.pid));
    expect(readStat(pid).group, command).not.toBe(readStat(server.pid).group);
    expect(getPriority(pid), command).toBeGreaterThan(getPriority(server.pid));
  }
});
