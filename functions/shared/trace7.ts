import { appendFileSync, readFileSync } from 'node:fs';
export function traceStalls(name: string): void {
  const file = '/work/scratch/seven/trace.log';
  const sched = () => readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ').map(Number);
  let last = performance.now();
  let s = [0, 0];
  try {
    s = sched();
  } catch {}
  let u = process.resourceUsage();
  const cpu0 = () => process.cpuUsage();
  let c = cpu0();
  setInterval(() => {
    const now = performance.now();
    const late = now - last - 5;
    last = now;
    let n = [0, 0];
    try {
      n = sched();
    } catch {}
    const v = process.resourceUsage();
    const d = cpu0();
    if (late > 60)
      try {
        appendFileSync(
          file,
          `${new Date().toISOString()} ${name} ${process.pid} late ${late.toFixed(0)} thread-run ${((n[0]! - s[0]!) / 1e6).toFixed(0)} thread-wait ${((n[1]! - s[1]!) / 1e6).toFixed(0)} cpu ${((d.user - c.user + d.system - c.system) / 1000).toFixed(0)} sys ${((d.system - c.system) / 1000).toFixed(0)} maj ${v.majorPageFault - u.majorPageFault} min ${v.minorPageFault - u.minorPageFault} vol ${v.voluntaryContextSwitches - u.voluntaryContextSwitches} inv ${v.involuntaryContextSwitches - u.involuntaryContextSwitches}\n`,
        );
      } catch {}
    s = n;
    u = v;
    c = d;
  }, 5).unref();
}
export function traceLine(text: string): void {
  try {
    appendFileSync('/work/scratch/seven/trace.log', `${new Date().toISOString()} ${text}\n`);
  } catch {}
}
