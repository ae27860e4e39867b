import { processTree, readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';

/** Part of the command line that identifies the processes of a tool's engine. */
const ENGINE_WORDS: Readonly<Record<string, string>> = {
  doc2any: '/libreoffice/',
  pdftools: '/program/pdfium',
};

/**
 * Memory of the service and one tool's engine processes in MiB, with shared pages counted once (PSS). The engines
 * of the other tools, which are idle, are not included.
 */
export function toolMemory(service: number, tool: string): number {
  const word = ENGINE_WORDS[tool] ?? `/${tool}/`;
  const engines = processTree(service).filter(
    (pid) => readStat(pid).parent === service && readProcess(pid, 'cmdline').includes(word),
  );
  const processes = [service, ...processTree(...engines)];
  return processes.reduce((sum, pid) => sum + proportional(pid), 0);
}

/** Monitors the memory of a tool. The returned function stops it and returns the peak. */
export function watchMemory(service: number, tool: string, interval = 150): () => number {
  let peak = toolMemory(service, tool);
  const timer = setInterval(() => {
    peak = Math.max(peak, toolMemory(service, tool));
  }, interval).unref();
  return () => {
    clearInterval(timer);
    return Math.max(peak, toolMemory(service, tool));
  };
}

function proportional(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+)/m.exec(readProcess(pid, 'smaps_rollup'))?.[1];
  return Number(kibibytes ?? 0) / 1024;
}
