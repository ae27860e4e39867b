const INTERVAL = 2;

/**
 * Measures how long other work has to wait for this thread: the most CPU time between two turns of a timer, and the total, in
 * milliseconds. Time in which other processes or the host of a virtual machine had the core does not count.
 */
export async function busiestTurn(work: () => Promise<unknown>): Promise<{ longest: number; total: number }> {
  let longest = 0;
  const began = cpuTime();
  let last = began;
  const note = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(note, INTERVAL);
  await work();
  clearInterval(timer);
  note();
  return { longest, total: last - began };
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
