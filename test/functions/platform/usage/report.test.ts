import { expect, it } from 'vitest';
import { priceRows, usageCsv } from '../../../../functions/platform/usage/report.ts';
import { NO_USAGE } from '../../../../functions/platform/usage/usage.ts';

it('quotes the fields of a CSV file that need it', () => {
  const rows = [{ ...NO_USAGE, account: 'a,"b"', day: '2026-11-22', tool: 'pdftools' }];

  const [, line] = usageCsv(priceRows(rows, [])).split('\r\n');

  expect(line).toBe('"a,""b""",2026-11-22,pdftools,0,,0,0,0,0,0,0');
});
