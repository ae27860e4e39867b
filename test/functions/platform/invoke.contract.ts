import { describe, expect, it } from 'vitest';
import type { Invocation, InvocationResult, Invoke } from '../../../functions/platform/invoke.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';

export type Handle = (invocation: Invocation) => Promise<InvocationResult>;

export interface InvokeUnderTest {
  readonly invoke: Invoke;
  close(): Promise<void>;
}

/** An invocation with a value in every field. */
export function sampleInvocation(): Invocation {
  return {
    tool: 'pdftools',
    account: 'owner-1',
    source: 'https://example.org/a%20b.pdf?x=1&y=ä',
    format: 'jpg',
    outputName: { kind: 'one', name: 'ünï.jpg' },
    options: { firstPage: 2, gray: true, list: ['a', { b: 1 }] },
    grant: { prefix: 'abc/', fields: { a: 'b' } },
    limits: CONVERSION_LIMITS,
    deadline: Date.now() + 60_000,
  };
}

/** Tests that every way of invoking a tool must pass. `open` returns one that runs `handle` for all five names. */
export function describeInvoke(name: string, open: (handle: Handle) => Promise<InvokeUnderTest>): void {
  describe(`${name} as a way to run a tool`, () => {
    const run = async (handle: Handle, signal = new AbortController().signal) => {
      const { invoke, close } = await open(handle);
      try {
        return await invoke(sampleInvocation(), signal);
      } finally {
        await close();
      }
    };

    it('passes the invocation unchanged', async () => {
      let seen: Invocation | undefined;

      await run(async (invocation) => {
        seen = invocation;
        return { ok: true, objectKeys: [] };
      });

      expect({ ...seen, deadline: 0 }).toEqual({ ...sampleInvocation(), deadline: 0 });
    });

    it('returns the facts about a source', async () => {
      const facts = { head: '%PDF-1.7\n%\xe2\xe3\0', name: 'ü.pdf', contentType: 'application/pdf' };

      expect(await run(async () => ({ ok: true, objectKeys: [], facts }))).toMatchObject({ facts });
    });

    it('returns the object keys, the page count, the state of the page and the warnings', async () => {
      const result: InvocationResult = {
        ok: true,
        objectKeys: ['abc/1.jpg', 'abc/ü.jpg'],
        pageCount: 12,
        settled: false,
        warnings: ['The image is truncated.'],
      };

      expect(await run(async () => result)).toEqual(result);
    });

    it('returns an error of the tool with its code, message and retry time', async () => {
      const error = new ConversionError('OVERLOADED', 'All busy.', { retryAfter: 3 });

      expect(await run(async () => ({ ok: false, error: error.toReport() }))).toEqual({
        ok: false,
        error: { code: 'OVERLOADED', message: 'All busy.', retryAfter: 3 },
      });
    });

    it('returns every mistake that an error describes', async () => {
      const issues = ['one', 'two'].map(
        (name) => new ConversionError('BAD_PARAMETER', `Bad ${name}.`, { parameter: `--${name}` }),
      );
      const error = new ConversionError('BAD_PARAMETER', 'Bad one. Bad two.', { issues }).toReport();

      expect(await run(async () => ({ ok: false, error }))).toEqual({ ok: false, error });
    });

    it('makes warnings safe for a header, and bounds their number and length', async () => {
      const warnings = ['The font 微软雅黑 is missing.', 'One\r\nTwo', 'x'.repeat(300)];
      const many = Array.from({ length: 12 }, (_, index) => `Warning ${index + 1}.`);
      const returned = async (sent: readonly string[]) => {
        const result = await run(async () => ({ ok: true, objectKeys: [], warnings: sent }));
        return result.ok && result.warnings;
      };

      expect(await returned(warnings)).toEqual([
        'The font ? is missing.',
        'One?Two',
        `${'x'.repeat(197)}...`,
      ]);
      expect(await returned(many)).toEqual([...many.slice(0, 9), 'There are 3 more warnings.']);
    });

    it('makes an error printable, and bounds it', async () => {
      const message = `The font 微软雅黑\x1b[31m\x9b2J\u202e\n is ${'missing'.repeat(20_000)}`;
      const issue = { code: 'CORRUPT_SOURCE', message };
      const error = { ...issue, issues: Array(200).fill(issue) };

      const result = await run(async () => ({ ok: false, error }) as never);
      const found = result.ok ? undefined : result.error;
      const all = [found, ...(found?.issues ?? [])].map((each) => each?.message ?? '');

      expect(all).toHaveLength(101);
      for (const each of all)
        expect(each).toMatch(/^The font 微软雅黑\ufffd\[31m\ufffd2J\ufffd\ufffd is [a-z]{4900,5000}$/);
    });

    it('returns only what a result may contain', async () => {
      const result = { ok: true, objectKeys: [], secret: 'x', pageCount: '3', sourceKind: '<script>' };

      expect(await run(async () => result as never)).toEqual({ ok: true, objectKeys: [] });
    });

    it('stops waiting when the signal aborts', async () => {
      const reason = new ConversionError('OVERLOADED', 'The service is stopping.');
      const stop = new AbortController();

      const ended = run(() => {
        stop.abort(reason);
        return new Promise(() => {});
      }, stop.signal);

      await expect(ended).rejects.toBe(reason);
    });
  });
}
