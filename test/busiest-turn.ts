const INTERVAL = 2;

/**
 * Measures how long other work has to wait for this thread: the most CPU time between two turns of a timer, in milliseconds. Time
 * in which other processes or the host of a virtual machine had the core does not count.
 */
export async function busiestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = cpuTime();
  const timer = setInterval(() => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
  }, INTERVAL);
  await work();
  clearInterval(timer);
  return Math.max(longest, cpuTime() - last);
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
