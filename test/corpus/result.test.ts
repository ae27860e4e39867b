import { describe, expect, it } from 'vitest';
import type { Expectation } from './files.ts';
import { judge, type Outcome } from './result.ts';

const OK: Outcome = { kind: 'ok' };
const error = (code: string): Outcome => ({ kind: 'error', code, message: 'Why.' });
const wrong: Outcome = { kind: 'wrong', reason: 'blank' };
const early = { milliseconds: 100, deadline: 1000 };

describe('an outcome', () => {
  it.each<[Outcome, Expectation]>([
    [OK, 'converts'],
    [OK, 'slow'],
    [OK, 'unknown'],
    [error('CORRUPT_SOURCE'), 'error'],
    [error('PASSWORD_REQUIRED'), 'error'],
    [error('TIMED_OUT'), 'error'],
    [error('TIMED_OUT'), 'slow'],
    [error('UNSUPPORTED_SOURCE'), 'unknown'],
  ])('%j is as expected for %s in the manifest', (outcome, expected) => {
    expect(judge(outcome, expected, early)).toBeUndefined();
  });

  it.each<[Outcome, Expectation, string]>([
    [OK, 'error', 'converted, an error was expected'],
    [wrong, 'converts', 'blank'],
    [wrong, 'error', 'blank'],
    [wrong, 'unknown', 'blank'],
    [error('CORRUPT_SOURCE'), 'converts', 'CORRUPT_SOURCE: Why.'],
    [error('CORRUPT_SOURCE'), 'slow', 'CORRUPT_SOURCE: Why.'],
    [error('INTERNAL'), 'error', 'INTERNAL: Why.'],
    [error('INTERNAL'), 'unknown', 'INTERNAL: Why.'],
    [error('TIMED_OUT'), 'converts', 'TIMED_OUT: Why.'],
    [error('TIMED_OUT'), 'unknown', 'TIMED_OUT: Why.'],
    [error('BAD_PARAMETER'), 'error', 'BAD_PARAMETER: Why.'],
    [error('OVERLOADED'), 'error', 'OVERLOADED: Why.'],
    [error('HACKED'), 'error', 'no code of ours: HACKED: Why.'],
  ])('%j is a failure for %s in the manifest', (outcome, expected, reason) => {
    expect(judge(outcome, expected, early)).toBe(reason);
  });

  it('is a failure if the rejection comes late', () => {
    expect(judge(error('CORRUPT_SOURCE'), 'error', { milliseconds: 501, deadline: 1000 })).toContain(
      'only after 501 ms',
    );
  });
});
