import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Call } from '../service/service.ts';
import type { Bench, Row } from './row.ts';

/** The maximum that the service queues for one account. */
const SLOW_CALLS = 500;
/**
 * Milliseconds until the slow calls are queued, the first has ended and its account's next process has
 * started, which happens once, and until those that were aborted have ended.
 */
const SETTLE_TIME = 8000;
const CALLS = 40;

/** Calls of one account while 500 slow calls of another are queued, compared with the same calls alone, in turns. */
export async function measureFairness(bench: Bench): Promise<Row[]> {
  const calls = sampleCalls(bench).filter(({ app }) => app === 'html2pdf' || app === 'imageproc');
  const wanted = calls.filter((call) => bench.wants(nameOf(call)));
  const alone = new Map<Call, number[]>(wanted.map((call) => [call, []]));
  const beside = new Map<Call, number[]>(wanted.map((call) => [call, []]));
  if (wanted.length === 0) return [];
  bench.say('calls beside a full queue');
  await time(bench, new Map(wanted.map((call) => [call, []])));
  for (let round = 0; round < (bench.quick ? 2 : 8); round += 1) {
    await time(bench, alone);
    const stop = fillQueue(bench);
    await sleep(SETTLE_TIME);
    await time(bench, beside);
    await stop();
  }
  return wanted.map((call) => {
    const [ours, theirs] = [beside, alone].map((times) => quantile(times.get(call)!, 0.95)) as [
      number,
      number,
    ];
    const [half, halfAlone] = [beside, alone].map((times) => quantile(times.get(call)!, 0.5).toFixed(0));
    const note = `p95 of ${beside.get(call)!.length} calls each; medians ${half} and ${halfAlone} ms`;
    const value = ours / theirs;
    return { work: nameOf(call), peer: 'the same alone', unit: 'ms', ours, theirs, value, target: 1.2, note };
  });
}

const nameOf = ({ app }: Call) => `beside ${SLOW_CALLS} queued slow calls of another account, ${app}`;

async function time({ service }: Bench, times: ReadonlyMap<Call, number[]>): Promise<void> {
  for (const [call, own] of times) {
    for (let count = 0; count < CALLS; count += 1) own.push(await service.convert(call));
  }
}

/** Queues slow calls of the other account. Returns a function that aborts them. */
function fillQueue({ service, inputs, urlOf }: Bench): () => Promise<void> {
  const stop = new AbortController();
  const options = { '--javascript-delay': 4000 };
  const slow = { app: 'html2pdf', infile: urlOf(`${inputs.folder}/note.html`), options };
  const calls = Array.from({ length: SLOW_CALLS }, (_, number) =>
    service.convert({ ...slow, outfile: `${number}.pdf` }, { account: 1, signal: stop.signal }),
  );
  const ended = Promise.allSettled(calls);
  return async () => {
    stop.abort();
    await ended;
    await sleep(SETTLE_TIME);
  };
}
