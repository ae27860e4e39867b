import { expect, it } from 'vitest';
import { readAlarms } from '../../../helpers/alarms.ts';
import { randomNumbers } from '../../../helpers/random.ts';
import { gatewayOf, type Route, type Throttle } from '../../../lambda-emulator/deployment.ts';
import { routeOf, tokenBucket } from '../../../lambda-emulator/gateway.ts';

const { template, chosen } = readAlarms();
const { routes } = gatewayOf(template.toJSON().Resources);

/** Requests of one kind: how many a second, and how many executions each takes for how many milliseconds. */
interface Traffic {
  readonly path: string;
  readonly perSecond: number;
  readonly executions: number;
  readonly milliseconds: number;
}

/** A conversion of half a second. It starts a tool as well as the router, which waits for it. */
const CUSTOMER = { path: '/api/', perSecond: 1, executions: 2, milliseconds: 500 };
/** A refusal without a key takes a warm router less than 1 ms of a core, and so less than 4 ms of its share. */
const KEYLESS = { path: '/api/', perSecond: 60, executions: 1, milliseconds: 15 };
const HEALTH = { path: '/api/health', perSecond: 2, executions: 1, milliseconds: 15 };
/** The refresh of the stored state: one tool after another, each started cold. */
const CHECK = { path: '/api/health', perSecond: 1 / 60, executions: 2, milliseconds: 10_000 };

/**
 * Sends traffic at random times to API Gateway's token buckets and to Lambda's concurrency of an account, by a virtual
 * clock. Returns how many requests of each kind were refused.
 */
function refusals(
  traffic: readonly Traffic[],
  seconds: number,
  quota: number,
  throttle?: Throttle,
): number[] {
  const random = randomNumbers(49);
  let now = 0;
  const buckets = new Map<Route, () => boolean>(
    routes.map((route) => [route, tokenBucket(throttle ?? route.throttle, () => now)]),
  );
  const arrivals = traffic
    .flatMap(({ perSecond }, kind) =>
      Array.from({ length: Math.round(perSecond * seconds) }, () => ({
        kind,
        at: 1000 * seconds * random(),
      })),
    )
    .sort((a, b) => a.at - b.at);
  const refused = traffic.map(() => 0);
  let running: number[] = [];
  for (const { kind, at } of arrivals) {
    now = at;
    running = running.filter((end) => end > now);
    const { path, executions, milliseconds } = traffic[kind]!;
    const isAdmitted = buckets.get(routeOf(path, 'GET', routes)!)!();
    if (isAdmitted && running.length + executions <= quota)
      running.push(...Array.from({ length: executions }, () => now + milliseconds));
    else refused[kind]! += 1;
  }
  return refused;
}

const strangers = [CUSTOMER, KEYLESS, HEALTH, CHECK];

it('refuses 0 of 100 calls of a customer next to 60 requests without a key and 2 for the health in a second', () => {
  const [customer] = refusals(strangers, 100, chosen.accountConcurrency);

  expect(customer).toBe(0);
});

it('would refuse many of them if strangers could use up the requests per second of the gateway', () => {
  const [customer] = refusals(strangers, 100, chosen.accountConcurrency, { rate: 50, burst: 5 });

  expect(customer).toBeGreaterThan(10);
});
