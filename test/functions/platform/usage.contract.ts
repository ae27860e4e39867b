import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Table } from '../../../functions/platform/table.ts';
import type { ConversionUsage, Usage } from '../../../functions/platform/usage.ts';

export interface UsageUnderTest {
  readonly usage: Usage;
  /** The table of `usage`. */
  readonly table: Table;
  close(): Promise<void>;
}

/** Tests that every usage table must pass. It knows the tools `pdftools` and `html2pdf`. */
export function describeUsage(name: string, open: () => Promise<UsageUnderTest>): void {
  describe(`${name} as a usage table`, () => {
    let opened: UsageUnderTest;
    let usage: Usage;
    let conversion: ConversionUsage;
    beforeAll(async () => {
      opened = await open();
      usage = opened.usage;
    });
    beforeEach(() => {
      conversion = {
        account: randomUUID(),
        tool: 'pdftools',
        code: 'OK',
        sourceBytes: 1000,
        resultBytes: 300,
        pages: 2,
        milliseconds: 49.6,
        coldStarts: 1,
        cached: false,
      };
    });
    afterAll(() => opened.close());

    it('adds up the conversions of a day', async () => {
      const now = Date.UTC(2100, 10, 21, 23, 59, 59);
      await usage.record(conversion, now);
      await usage.record({ ...conversion, code: 'TIMED_OUT', resultBytes: 0 }, now);
      await usage.record({ ...conversion, code: 'CORRUPT_SOURCE' }, now);
      await usage.record({ ...conversion, code: 'TIMED_OUT', cached: true }, now);

      expect(await usage.month('2100-11', conversion.account)).toEqual([
        {
          account: conversion.account,
          day: '2100-11-21',
          tool: 'pdftools',
          conversions: 4,
          failures: { CORRUPT_SOURCE: 1, TIMED_OUT: 2 },
          cached: 1,
          sourceBytes: 4000,
          resultBytes: 900,
          pages: 8,
          milliseconds: 200,
          coldStarts: 4,
        },
      ]);
    });

    it('separates days, tools and months, in order', async () => {
      await usage.record(conversion, Date.UTC(2100, 10, 30));
      await usage.record({ ...conversion, tool: 'html2pdf' }, Date.UTC(2100, 10, 30));
      await usage.record(conversion, Date.UTC(2100, 10, 1));
      await usage.record(conversion, Date.UTC(2100, 11, 1));

      const rows = await usage.month('2100-11', conversion.account);

      expect(rows.map(({ day, tool }) => `${day} ${tool}`)).toEqual([
        '2100-11-01 pdftools',
        '2100-11-30 html2pdf',
        '2100-11-30 pdftools',
      ]);
    });

    it('returns the rows of one account or of all', async () => {
      const other = { ...conversion, account: randomUUID() };
      await usage.record(conversion, Date.UTC(2101, 0, 5));
      await usage.record(other, Date.UTC(2101, 0, 5));

      expect(await usage.month('2101-01', other.account)).toHaveLength(1);
      expect(new Set((await usage.month('2101-01')).map(({ account }) => account))).toEqual(
        new Set([conversion.account, other.account]),
      );
    });

    it('adds up the rows of all accounts by day and tool', async () => {
      const other = { ...conversion, account: randomUUID(), code: 'TIMED_OUT' } as const;
      await usage.record(conversion, Date.UTC(2102, 0, 5));
      await usage.record(other, Date.UTC(2102, 0, 5));
      await usage.record({ ...other, tool: 'html2pdf' }, Date.UTC(2102, 0, 6));
      await usage.record(other, Date.UTC(2102, 1, 5));

      expect(await usage.total('2102-01')).toMatchObject([
        { account: '', day: '2102-01-05', tool: 'pdftools', conversions: 2, failures: { TIMED_OUT: 1 } },
        { account: '', day: '2102-01-06', tool: 'html2pdf', conversions: 1, failures: { TIMED_OUT: 1 } },
      ]);
    });

    it('reads no rows for the totals of a month', async () => {
      const other = { ...conversion, account: randomUUID(), code: 'TIMED_OUT' } as const;
      await usage.record(conversion, Date.UTC(2103, 0, 4));
      const now = Date.UTC(2104, 2, 5);
      await Promise.all(Array.from({ length: 20 }, () => usage.record(conversion, now)));
      await usage.record(other, now);
      const list = vi.spyOn(opened.table, 'list');

      const totals = await usage.total('2104-03');

      expect(list).not.toHaveBeenCalled();
      expect(totals).toMatchObject([{ conversions: 21, pages: 42, failures: { TIMED_OUT: 1 } }]);
      list.mockRestore();
    });

    it('adds up rows of days on which an earlier version kept no totals', async () => {
      const { account } = conversion;
      await usage.record(conversion, Date.UTC(2100, 10, 21));
      for (const [day, fail] of [
        ['2099-12-01', 1],
        ['2099-12-31', 0],
      ] as const)
        await opened.table.update(`usage#${day}#pdftools#${account}`, {
          set: { account, day, tool: 'pdftools', ...(fail && { fail_TIMED_OUT: fail }) },
          add: { conversions: 3, pages: 7 },
        });

      expect(await usage.total('2099-12')).toMatchObject([
        { day: '2099-12-01', conversions: 3, pages: 7, failures: { TIMED_OUT: 1 } },
        { day: '2099-12-31', conversions: 3, pages: 7, failures: {} },
      ]);
    });

    it('loses nothing with concurrent writes', async () => {
      await Promise.all(Array.from({ length: 100 }, () => usage.record(conversion)));

      const month = new Date().toISOString().slice(0, 7);
      const [row] = await usage.month(month, conversion.account);
      expect(row).toMatchObject({ conversions: 100, sourceBytes: 100_000 });
      expect(await usage.total(month)).toMatchObject([{ conversions: 100, sourceBytes: 100_000 }]);
    });
  });
}
