import { expect, it } from 'vitest';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { NO_USAGE } from '../../../functions/platform/usage.ts';
import { createPricing, defaultSizes, sumRows, usageCsv } from '../../../functions/platform/usage-report.ts';

const ROW = { ...NO_USAGE, account: 'a', day: '2026-11-22', tool: 'doc2any' };

it('quotes the fields of a CSV file that need it', () => {
  const rows = [{ ...ROW, account: 'a,"b"' }];

  const [, line] = usageCsv(createPricing({ memory: {}, isolated: false })(rows)).split('\r\n');

  expect(line).toBe('"a,""b""",2026-11-22,doc2any,0,,0,0,0,0,0,0,0,');
});

it('adds the email address of the account, which no spreadsheet takes for a formula', () => {
  const csv = usageCsv([
    { ...ROW, email: 'alice@example.com' },
    { ...ROW, email: "=cmd|'calc'!a1@example.com" },
  ]);

  const [head, ...lines] = csv.trimEnd().split('\r\n');
  expect(head).toMatch(/,email$/);
  expect(lines.map((line) => line.split(',').at(-1))).toEqual([
    'alice@example.com',
    "'=cmd|'calc'!a1@example.com",
  ]);
});

it('prices new environments only where each account has its own', () => {
  const rows = [{ ...ROW, conversions: 1000, coldStarts: 1000 }];

  const { memory } = defaultSizes([doc2any]);
  const [isolated, shared] = [true, false].map((each) =>
    sumRows(createPricing({ memory, isolated: each })(rows)),
  );

  // 2.9375 GiB at $0.000167 each.
  expect(isolated!.estimatedDollars! - shared!.estimatedDollars!).toBeCloseTo(0.4906, 4);
});

it('prices the memory that the functions of a deployment have', () => {
  const rows = [{ ...ROW, conversions: 1, milliseconds: 1e6 }];
  const dollars = (memory: Readonly<Record<string, number>>) =>
    sumRows(createPricing({ memory, isolated: false })(rows)).estimatedDollars!;
  const none = dollars({});

  // 1,000 seconds at list prices per GiB and second.
  expect(dollars({ doc2any: 1024 }) - none).toBeCloseTo(0.016667, 5);
  expect(dollars({ router: 512 }) - none).toBeCloseTo(0.006667, 5);
});

it('tells no cost where rows have none', () => {
  const rows = [{ ...ROW, conversions: 1 }];

  expect(sumRows(rows)).not.toHaveProperty('estimatedDollars');
  expect(usageCsv(rows)).not.toContain('estimatedDollars');
});
