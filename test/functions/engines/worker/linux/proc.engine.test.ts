import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { groupUsage, readStat } from '../../../../../functions/engines/worker/linux/proc.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const { pid } of children.splice(0)) process.kill(-pid!, 'SIGKILL');
});

/** Starts a shell in a group of its own. It prints a line for each line of its input, after `command`. */
async function start(command: string) {
  const child = spawn('sh', ['-c', `echo; while read line; do ${command}; echo; done`], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

it('counts what a process of the group has started since the last look', async () => {
  const child = await start('sleep 60 & pid=$!');
  const alone = groupUsage(child.pid!).memory;
  child.stdin.write('\n');
  await once(child.stdout, 'data');

  expect(alone).toBeCloseTo(readStat(child.pid!).memory, 0);
  await expect.poll(() => groupUsage(child.pid!).memory).toBeGreaterThan(alone);
});

it('counts page tables, which are not resident', async () => {
  const child = await start('true');

  await expect.poll(() => groupUsage(child.pid!).memory).toBeGreaterThan(readStat(child.pid!).memory);
});

it('does not count other groups, nor a group that has ended', async () => {
  const [child, other] = [await start('true'), await start('true')];
  for (const { pid } of [child, other]) await expect.poll(() => groupUsage(pid!).memory).toBeGreaterThan(0);
  process.kill(-other.pid!, 'SIGKILL');
  await once(other, 'exit');
  children.pop();

  await expect.poll(() => groupUsage(other.pid!).memory).toBe(0);
  expect(groupUsage(child.pid!).memory).toBeCloseTo(readStat(child.pid!).memory, 0);
});
