import { expect, it } from 'vitest';
import { doc2any } from '../../../../functions/doc2any/tool.ts';
import { createPricing, sumRows, usageCsv } from '../../../../functions/platform/usage/report.ts';
import { NO_USAGE } from '../../../../functions/platform/usage/usage.ts';

const ROW = { ...NO_USAGE, account: 'a', day: '2026-11-22', tool: 'doc2any' };

it('quotes the fields of a CSV file that need it', () => {
  const rows = [{ ...ROW, account: 'a,"b"' }];

  const [, line] = usageCsv(createPricing([], false)(rows)).split('\r\n');

  expect(line).toBe('"a,""b""",2026-11-22,doc2any,0,,0,0,0,0,0,0,0');
});

it('prices new environments only where each account has its own', () => {
  const rows = [{ ...ROW, conversions: 1000, coldStarts: 1000 }];

  const [isolated, shared] = [true, false].map((each) => sumRows(createPricing([doc2any], each)(rows)));

  // 2.9375 GiB at $0.000167 each.
  expect(isolated!.estimatedDollars! - shared!.estimatedDollars!).toBeCloseTo(0.4906, 4);
});

it('tells no cost where rows have none', () => {
  const rows = [{ ...ROW, conversions: 1 }];

  expect(sumRows(rows)).not.toHaveProperty('estimatedDollars');
  expect(usageCsv(rows)).not.toContain('estimatedDollars');
});
