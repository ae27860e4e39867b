import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PRICES } from '../../functions/platform/usage-report.ts';
import { ROUTER_MEMORY } from '../../functions/shared/settings/aws.ts';
import * as tools from '../../functions/tools.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../infra/aws/README.md'), 'utf8');
const TOOLS = Object.values(tools);

/** Reads the cells of the first row of the guide that begins with `name`, after `heading`. */
function cellsOf(heading: string, name: string): string[] {
  const line = GUIDE.slice(GUIDE.indexOf(heading)).match(new RegExp(`^\\| ${name}\\b.*$`, 'm'))![0];
  return line.split('|').map((cell) => cell.trim());
}

const numberIn = (text = '') => Number(/[\d.]+/.exec(text)![0]);

/** Adds up what a conversion costs that takes `seconds`, of which a share starts an environment in `start` seconds. */
function dollarsOf(memory: number, seconds: number, start: number, coldShare: number): number {
  const billed = seconds + coldShare * start;
  const gibibytes = memory / 1024;
  return [
    PRICES.gatewayRequest,
    // The router and the tool.
    PRICES.lambdaRequest * 2,
    gibibytes * billed * PRICES.lambdaGibSecond.x86,
    (ROUTER_MEMORY / 1024) * billed * PRICES.lambdaGibSecond.arm,
    gibibytes * coldShare * PRICES.lambdaEnvironmentGib,
    // The result is stored once and read once.
    PRICES.s3Put + PRICES.s3Get,
    // The key is read; the limits, the end of the call, its usage and the totals are written.
    PRICES.dynamoRead + 4 * PRICES.dynamoWrite,
    (2000 / 2 ** 30) * PRICES.logsGib,
  ].reduce((sum, price) => sum + price, 0);
}

it.each(TOOLS)(
  'the guide adds up the month of $name from the prices and its own durations',
  ({ name, sizing }) => {
    const [, , warm, cold] = cellsOf('| function | warm start', name);
    const [, , duration] = cellsOf('<!-- table: cost -->', name);
    const [, , ...months] = cellsOf('<!-- table: month -->', name);
    const start = numberIn(cold) - numberIn(warm);

    const expected = [
      [10, 1],
      [1000, 0.02],
      [100_000, 0.02],
    ].map(
      ([perDay = 0, share = 0]) => 30 * perDay * dollarsOf(sizing.memory, numberIn(duration), start, share),
    );

    expect(months.slice(0, 3).map(numberIn)).toEqual(expected.map((dollars) => Number(dollars.toFixed(2))));
  },
);

it('tells the prices that the month is made of', () => {
  const table = GUIDE.slice(GUIDE.indexOf('<!-- table: prices -->'));

  for (const price of [PRICES.lambdaRequest, PRICES.gatewayRequest, PRICES.s3Put, PRICES.dynamoWrite])
    expect(table).toContain(`$${Number((price * 1e6).toPrecision(6))}`);
  expect(table).toContain(String(PRICES.lambdaEnvironmentGib));
});
