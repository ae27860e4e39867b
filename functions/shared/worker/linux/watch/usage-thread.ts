import { groupUsage } from '../proc.ts';
import { answer } from './answer.ts';
import type { UsageRequest } from './watch.ts';

answer(({ group, mostThreads }: UsageRequest) => {
  const usage = groupUsage(group, mostThreads);
  // Without the main thread, because until it has read the result there would be many more. After the result is sent, because the
  // end of a process for no known reason counts as a crash.
  if (usage.threads > mostThreads) setImmediate(kill, group);
  return usage;
});

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
