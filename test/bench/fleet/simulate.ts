import { randomNumbers } from '../inputs/words.ts';
import { quantile } from '../measure/statistics.ts';
import { Events } from './events.ts';
import { ASSUMPTIONS, PRICES } from './prices.ts';
import { Sandboxes } from './sandboxes.ts';

/** Measurements of a deployed function. Times are in milliseconds, on this machine. */
export interface FleetFunction {
  readonly name: string;
  /** For a tool, the durations of warm calls. For the router, its overhead. */
  readonly warm: readonly number[];
  /** From a fresh process to its first result. */
  readonly cold: number;
  /** MiB. */
  readonly memory: number;
  /** MiB of `/tmp`. */
  readonly temporary: number;
  readonly processor: 'x86' | 'arm';
  /** Of a result. */
  readonly bytes: number;
}

/** The simulated deployment at one rate. */
export interface FleetPoint {
  readonly callsPerHour: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Share of calls with a cold start. */
  readonly coldShare: number;
  readonly sandboxes: number;
  readonly refusedShare: number;
  /** US dollars. */
  readonly per1000: number;
}

const GIB = 2 ** 30;
const MONTH_DAYS = 30;

/** Simulates calls that arrive at random (a Poisson process), equally often for all tools, through router and tool. */
export function simulateFleet(
  callsPerHour: number,
  { router, tools }: { router: FleetFunction; tools: readonly FleetFunction[] },
): FleetPoint {
  const { slowdown, sandbox, gateway, invoke, source, store, idleLife, concurrency } = ASSUMPTIONS;
  const calls = Math.min(100_000, Math.max(4000, callsPerHour / 4));
  const random = randomNumbers(callsPerHour);
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!;
  const events = new Events();
  const pools = new Map([router, ...tools].map(({ name }) => [name, new Sandboxes(idleLife)]));
  const busy = () => [...pools.values()].reduce((sum, pool) => sum + pool.busy, 0);
  const latencies: number[] = [];
  let [cold, refused, most, dollars] = [0, 0, 0, 0];

  /** Occupies a sandbox of a function, and returns when it can start its work and how to release it. */
  function enter(fleetFunction: FleetFunction, time: number) {
    const pool = pools.get(fleetFunction.name)!;
    const warm = pool.take(time);
    most = Math.max(most, busy());
    const starts = warm ? 0 : sandbox + slowdown * fleetFunction.cold;
    const leave = (end: number) => {
      pool.giveBack(end);
      // Lambda's own work before the code starts is not billed.
      dollars += price(fleetFunction, end - time - (warm ? 0 : sandbox));
    };
    return { warm, ready: time + starts, leave };
  }

  function arrive(time: number): void {
    const tool = pick(tools);
    if (busy() === concurrency) {
      refused += 1;
      return;
    }
    const first = enter(router, time);
    events.add(first.ready + slowdown * pick(router.warm) + invoke, (invoked) => {
      if (busy() === concurrency) {
        refused += 1;
        first.leave(invoked);
        return;
      }
      const second = enter(tool, invoked);
      // The time of a cold start includes the first result.
      const work = second.warm ? slowdown * pick(tool.warm) : 0;
      events.add(second.ready + source + work + store, (end) => {
        second.leave(end);
        first.leave(end);
        if (!first.warm || !second.warm) cold += 1;
        latencies.push(end - time + gateway);
        dollars += aroundPrice(tool.bytes);
      });
    });
  }

  for (let call = 0, time = 0; call < calls; call += 1) {
    time += (-Math.log(1 - random()) * 3_600_000) / callsPerHour;
    events.add(time, arrive);
  }
  events.run();
  const done = latencies.length;
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(latencies, share)) as [
    number,
    number,
    number,
  ];
  return {
    ...{ callsPerHour, p50, p95, p99, sandboxes: most },
    ...{ coldShare: cold / done, refusedShare: refused / calls, per1000: (1000 * dollars) / done },
  };
}

/** Cost of one run of a function. */
function price({ memory, temporary, processor }: FleetFunction, milliseconds: number): number {
  const seconds = Math.ceil(milliseconds) / 1000;
  const temporaryGib = Math.max(0, temporary - 512) / 1024;
  return (
    PRICES.lambdaRequest +
    seconds * (memory / 1024) * PRICES.lambdaGibSecond[processor] +
    seconds * temporaryGib * PRICES.lambdaTemporaryGibSecond +
    (ASSUMPTIONS.logBytes / GIB) * PRICES.logsGib
  );
}

/** Cost of a call in addition to its functions. Its result is downloaded once and kept for a day. */
function aroundPrice(bytes: number): number {
  const { gatewayRequest, dynamoRead, s3Put, s3Get, s3GibMonth, outGib } = PRICES;
  return gatewayRequest + dynamoRead + s3Put + s3Get + (bytes / GIB) * (s3GibMonth / MONTH_DAYS + outGib);
}
