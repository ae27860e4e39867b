import { describe, expect, it } from 'vitest';
import { errorReply, keyReply, outputReply } from '../../../functions/router/reply.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';

const PLAIN = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

describe('the response with results', () => {
  it('is exactly these bytes', () => {
    expect(outputReply(['http://x/a?b=c&d=e'], { ignored: [] })).toEqual({
      status: 200,
      headers: PLAIN,
      body: '[Output] http://x/a?b=c&d=e<br>',
    });
  });

  it('contains several URLs in order', () => {
    const { body } = outputReply(['http://x/1', 'http://x/2'], { ignored: [] });

    expect(body).toBe('[Output] http://x/1<br>[Output] http://x/2<br>');
  });

  it('has headers for the page count and ignored options', () => {
    const { headers } = outputReply(['http://x/1'], { pageCount: 12, ignored: ['-aa', '-q'] });

    expect(headers).toEqual({ ...PLAIN, 'X-Page-Count': '12', 'X-Ignored-Options': '-aa, -q' });
  });
});

describe('X-Settled', () => {
  const settledOf = (settled: boolean | undefined) =>
    (outputReply(['http://x/1'], { settled, ignored: [] }).headers as Record<string, string>)['X-Settled'];

  it('says that a page was still changing when its time ran out', () => {
    expect(settledOf(false)).toBe('timeout');
  });

  it('is missing otherwise', () => {
    expect(settledOf(true)).toBeUndefined();
    expect(settledOf(undefined)).toBeUndefined();
  });
});

describe('the response to an error', () => {
  it('is one line with the code at its end and in a header', () => {
    expect(errorReply(new ConversionError('PAGE_RANGE', 'There is no page 9.', { cause: 'secret' }))).toEqual(
      {
        status: 400,
        headers: { ...PLAIN, 'X-Error-Code': 'PAGE_RANGE' },
        body: '[ERROR] There is no page 9. (PAGE_RANGE)',
      },
    );
  });

  it('says when to retry', () => {
    const { status, headers } = errorReply(new ConversionError('OVERLOADED', 'Busy.', { retryAfter: 5 }));

    expect(status).toBe(503);
    expect(headers).toMatchObject({ 'Retry-After': '5' });
  });

  it('says which method is allowed', () => {
    expect(errorReply(new ConversionError('METHOD_NOT_ALLOWED', 'GET.')).headers).toMatchObject({
      Allow: 'GET',
    });
  });
});

describe('the response to a missing or invalid key', () => {
  it('starts as specified, contains both URLs, mentions demo mode and has no result', () => {
    const { status, headers, body } = keyReply({
      accountUrl: 'https://a.example/',
      supportUrl: 'https://s.example/',
    });

    expect(status).toBe(200);
    expect(headers).toMatchObject(PLAIN);
    expect(body.startsWith('[ERROR] Please provide a valid APIKEY.')).toBe(true);
    for (const text of ['sign up', 'https://a.example/', 'https://s.example/', 'demo mode'])
      expect(body).toContain(text);
    expect(body).not.toContain('[Output]');
  });
});
