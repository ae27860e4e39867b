import { describe, expect, it } from 'vitest';
import { ConversionError, ERRORS, type ErrorCode } from '../../../functions/shared/errors.ts';

describe('a ConversionError', () => {
  it.each(Object.entries(ERRORS))('%s has its status and a description', (code, { status, description }) => {
    expect(new ConversionError(code as ErrorCode, 'Why.').status).toBe(status);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(description).toMatch(/^\S.{10,}\S$/);
  });

  it('is passed on without its cause or stack', () => {
    const error = new ConversionError('OVERLOADED', 'Busy.', { cause: new Error('secret'), retryAfter: 5 });

    const report = error.toReport();

    expect(report).toEqual({ code: 'OVERLOADED', message: 'Busy.', retryAfter: 5 });
    expect(ConversionError.fromReport(report)).toMatchObject({ ...report, status: 503 });
  });

  it('has no retry time unless it is set', () => {
    expect(new ConversionError('NOT_FOUND', 'No.').toReport()).toEqual({ code: 'NOT_FOUND', message: 'No.' });
  });
});

describe('the details of an error', () => {
  it('belong to its code, stay when its parameter is set, and are never reported', () => {
    const error = new ConversionError('OVERLOADED', 'Busy.', { details: { share: 4 } }).about('infile');

    expect(error.detailsOf('OVERLOADED').share).toBe(4);
    expect(error.detailsOf('RESULT_TOO_LARGE')).toEqual({});
    expect(JSON.stringify(error.toReport())).not.toContain('share');
  });

  it('include a sentence and a retry time for codes that have them', () => {
    expect(new ConversionError('OVERLOADED').toReport()).toEqual({
      code: 'OVERLOADED',
      message: 'The service is at capacity. Retry in 5 seconds.',
      retryAfter: 5,
    });
  });
});

describe('an error of another kind', () => {
  it.each(['HACKED', 'toString', '__proto__', ''])(
    'is INTERNAL for the code %j of another process',
    (code) => {
      const error = ConversionError.fromReport({ code, message: 'at /root/secret.ts:1' });

      expect(error.code).toBe('INTERNAL');
      expect(error.message).not.toContain('secret');
    },
  );

  it.each([new Error('at /root/secret.ts:1'), 'secret', undefined, null, { code: 'NOT_FOUND' }])(
    'keeps its message for the log',
    (thrown) => {
      const error = ConversionError.from(thrown);

      expect(error.toReport()).toEqual({
        code: 'INTERNAL',
        message: 'Internal error. It has been logged.',
      });
    },
  );

  it('stays the same if it is a ConversionError', () => {
    const error = new ConversionError('NOT_FOUND', 'No.');

    expect(ConversionError.from(error)).toBe(error);
  });
});
