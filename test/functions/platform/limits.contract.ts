import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Admission, Limiter } from '../../../functions/platform/limits.ts';

export interface LimiterUnderTest {
  readonly limiter: Limiter;
  close(): Promise<void>;
}

/** In the middle of a minute and of a month. */
const NOW = Date.UTC(2100, 10, 21, 12, 0, 30);
const MINUTE = 60_000;

/** Tests that every limiter must pass. */
export function describeLimiter(name: string, open: () => Promise<LimiterUnderTest>): void {
  describe(`${name} as a limiter`, () => {
    let opened: LimiterUnderTest;
    let limiter: Limiter;
    let account: string;
    beforeAll(async () => {
      opened = await open();
      limiter = opened.limiter;
    });
    beforeEach(() => {
      account = randomUUID();
    });
    afterAll(() => opened.close());

    const admit = (limits: object, now = NOW, life = 5 * MINUTE) =>
      limiter.admit({ account, limits, now, expires: now + life });
    const outcomes = (admissions: readonly Admission[]) =>
      admissions.map((admission) => (admission.admitted ? 'ok' : admission.exceeded));

    it('counts without a limit', async () => {
      await admit({});
      const { used } = await admit({});

      expect(used).toEqual({ short: 2, month: 2 });
      expect(await limiter.used(account, NOW)).toEqual({ short: 2, month: 2 });
    });

    it('rejects calls over the limit per minute, and does not count them', async () => {
      const limits = { perShortWindow: 2, perMonth: 100 };
      const admissions = [await admit(limits), await admit(limits), await admit(limits)];

      expect(outcomes(admissions)).toEqual(['ok', 'ok', 'perShortWindow']);
      expect(await limiter.used(account, NOW)).toEqual({ short: 2, month: 2 });
    });

    it('admits again in the next minute, and keeps counting the month', async () => {
      await admit({ perShortWindow: 1 });

      const next = await admit({ perShortWindow: 1 }, NOW + MINUTE);

      expect(next).toMatchObject({ admitted: true, used: { short: 1, month: 2 } });
    });

    it('rejects calls over the monthly quota until the next month', async () => {
      const limits = { perMonth: 1 };
      const admissions = [
        await admit(limits),
        await admit(limits, NOW + MINUTE),
        await admit(limits, Date.UTC(2100, 11, 1)),
      ];

      expect(outcomes(admissions)).toEqual(['ok', 'perMonth', 'ok']);
    });

    it('rejects every call with a limit of 0', async () => {
      expect(
        outcomes([
          await admit({ perShortWindow: 0 }),
          await admit({ perMonth: 0 }),
          await admit({ concurrent: 0 }),
        ]),
      ).toEqual(['perShortWindow', 'perMonth', 'concurrent']);
    });

    it('limits calls in progress until they are released', async () => {
      const limits = { concurrent: 2, perMonth: 100 };
      const [first, , third] = [await admit(limits), await admit(limits), await admit(limits)];
      if (first!.admitted) await limiter.release(first.ticket, 'none');

      expect(third).toMatchObject({ admitted: false, exceeded: 'concurrent', used: { month: 2 } });
      expect(outcomes([await admit(limits), await admit(limits)])).toEqual(['ok', 'concurrent']);
    });

    it('forgets a call in progress that was never released once it has expired', async () => {
      const limits = { concurrent: 1 };
      await admit(limits, NOW, 1000);

      // Calls that expire within half a minute are counted together, until the last of them has.
      expect(outcomes([await admit(limits, NOW + 500), await admit(limits, NOW + 31_000)])).toEqual([
        'concurrent',
        'ok',
      ]);
    });

    it('keeps counting the calls in progress that have not expired when others have', async () => {
      const limits = { concurrent: 3, perMonth: 100 };
      await admit(limits, NOW, 1000);
      await admit(limits, NOW, 1000);
      const lasting = await admit(limits);

      const later = NOW + 40_000;
      const admissions = [await admit(limits, later), await admit(limits, later), await admit(limits, later)];
      if (lasting.admitted) await limiter.release(lasting.ticket, 'none');

      expect(outcomes(admissions)).toEqual(['ok', 'ok', 'concurrent']);
      expect(outcomes([await admit(limits, later), await admit(limits, later)])).toEqual([
        'ok',
        'concurrent',
      ]);
    });

    it('ignores the end of a call that has already expired', async () => {
      const limits = { concurrent: 1 };
      const expired = await admit(limits, NOW, 1000);
      await admit(limits, NOW + MINUTE);
      if (expired.admitted) await limiter.release(expired.ticket, 'none');

      expect(outcomes([await admit(limits, NOW + MINUTE)])).toEqual(['concurrent']);
    });

    it.each([
      ['none', { short: 2, month: 2 }],
      ['month', { short: 2, month: 1 }],
      ['all', { short: 1, month: 1 }],
    ] as const)('refunds %s', async (refund, used) => {
      const [admission] = [await admit({ concurrent: 9 }), await admit({ concurrent: 9 })];
      if (admission!.admitted) await limiter.release(admission.ticket, refund);

      expect(await limiter.used(account, NOW)).toEqual(used);
    });

    it('refunds only the month when the minute has ended', async () => {
      const first = await admit({ concurrent: 1 });
      await admit({}, NOW + MINUTE);
      if (first.admitted) await limiter.release(first.ticket, 'all');

      expect(await limiter.used(account, NOW + MINUTE)).toEqual({ short: 1, month: 1 });
      expect((await admit({ concurrent: 1 }, NOW + MINUTE)).admitted).toBe(true);
    });

    it('never refunds a later month', async () => {
      const first = await admit({});
      await admit({}, Date.UTC(2100, 11, 1));
      if (first.admitted) await limiter.release(first.ticket, 'all');

      expect(await limiter.used(account, Date.UTC(2100, 11, 1))).toEqual({ short: 1, month: 1 });
    });

    it('counts accounts separately', async () => {
      await admit({ perShortWindow: 1 });
      const other = await limiter.admit({
        account: randomUUID(),
        limits: { perShortWindow: 1 },
        now: NOW,
        expires: NOW,
      });

      expect(other.admitted).toBe(true);
    });

    it.each([
      ['quota', { perMonth: 20 }],
      ['calls of a minute', { perShortWindow: 20 }],
      ['calls in progress', { concurrent: 20 }],
    ])('admits exactly as many parallel calls as the %s allow', async (_, limits) => {
      const admissions = await Promise.all(Array.from({ length: 100 }, () => admit(limits)));

      expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(20);
    });
  });
}
