// Sends the same small request repeatedly from its own process, and prints how long each took. The source does not
// exist, so the request uses all of the server, including name resolution, but no engine. At the same time, requests to the
// source itself show how busy the machine is: a machine that stalls delays both. A virtual machine also counts for how long
// its host gave each core to others, which may delay only one of them.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const [base, apiKey, host] = process.argv.slice(2);
/** A request makes processes take turns as often: caller, server, name server, server, source, server, caller. */
const ROUND_TRIPS = 3;
const PAUSE = 50;
/** Milliseconds of a tick in /proc/stat. */
const TICK = 10;

/** When each of the last requests to the source began and ended, in milliseconds. */
let controls: Array<readonly [began: number, ended: number]> = [];
let control: Promise<void> = Promise.resolve();
askSource();
for (let beat = 0; ; beat += 1) {
  const query = new URLSearchParams({
    apikey: apiKey!,
    app: 'pdftools',
    infile: `http://${host}/missing/${beat}`,
    outfile: 'x.png',
  });
  const stolenBefore = stolenTimes();
  const started = performance.now();
  const code = await fetch(`${base}/api/?${query}`, { signal: AbortSignal.timeout(60_000) }).then(
    async (response) => {
      await response.text();
      return response.headers.get('x-error-code') ?? `${response.status}`;
    },
    (error: Error) => String(error.cause ?? error.message),
  );
  const stopped = performance.now();
  await control;
  const waited = controls.map(([began, ended]) =>
    Math.max(0, Math.min(ended, stopped) - Math.max(began, started)),
  );
  controls = [];
  const total = waited.reduce((sum, one) => sum + one, 0);
  const stolen = Math.max(...stolenTimes().map((time, core) => time - (stolenBefore[core] ?? 0)));
  const beatTimes = { milliseconds: stopped - started, control: total, stolen };
  process.stdout.write(`${JSON.stringify({ ...beatTimes, code })}\n`);
  await setTimeout(PAUSE);
}

/**
 * Returns how long each core had work while the host of this virtual machine ran others, in milliseconds; see
 * proc_stat(5).
 */
function stolenTimes(): number[] {
  const lines = readFileSync('/proc/stat', 'latin1').matchAll(/^cpu\d+ (.+)$/gm);
  return [...lines].map(([, times = '']) => TICK * Number(times.split(' ')[7] ?? 0));
}

async function askSource(): Promise<never> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>();
    control = promise;
    const began = performance.now();
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1)
      await fetch(`http://127.0.0.1:${host!.split(':')[1]}/control`).then((response) => response.text());
    controls.push([began, performance.now()]);
    resolve();
    await setTimeout(PAUSE);
  }
}
