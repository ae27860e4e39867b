import { getPriority } from 'node:os';
import { afterEach, expect, it } from 'vitest';
import { readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { sessionOf } from '../../functions/engines/worker/linux/session-of.ts';
import { processesBelow } from '../../helpers/leftovers.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
afterEach(() => server.close());

it('keeps its engines in its session, outside its process group, and with a lower priority', async () => {
  server = await startServer();
  const own = { session: sessionOf(server.pid), ...readStat(server.pid), priority: getPriority(server.pid) };
  const engines = () => processesBelow(server.directory).filter(({ pid }) => pid !== server.pid);
  const isRight = (pid: number) =>
    sessionOf(pid) === own.session && readStat(pid).group !== own.group && getPriority(pid) > own.priority;

  expect(engines().length).toBeGreaterThan(4);
  // One that has just been started is still in the group of the server.
  await expect.poll(() => engines().filter(({ pid }) => !isRight(pid))).toEqual([]);
});
