import { describe, expect, it } from 'vitest';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { errorReply, keyReply, outputReply } from '../../../functions/router/reply.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';

const PLAIN = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** Returns the response for results of pdftools with these facts. */
function reply(
  objectKeys: readonly string[],
  facts: { pageCount?: number; settled?: boolean; warnings?: string[] } = {},
  ignored: string[] = [],
) {
  const storage = { url: async (objectKey: string) => `http://x/${objectKey}` };
  return outputReply(
    { tool: pdftools, format: 'png', optionNames: [], ignored },
    { ok: true, objectKeys, ...facts },
    storage,
  );
}

describe('the response with results', () => {
  it('is exactly these bytes', async () => {
    expect(await reply(['a?b=c&d=e'])).toEqual({
      status: 200,
      headers: PLAIN,
      body: '[Output] http://x/a?b=c&d=e<br>',
    });
  });

  it('contains several URLs in order', async () => {
    expect((await reply(['1', '2'])).body).toBe('[Output] http://x/1<br>[Output] http://x/2<br>');
  });

  it('has headers for the page count and ignored options', async () => {
    const { headers } = await reply(['1'], { pageCount: 12 }, ['-aa', '-q']);

    expect(headers).toEqual({ ...PLAIN, 'X-Page-Count': '12', 'X-Ignored-Options': '-aa, -q' });
  });

  it('has a header for what the result lacks', async () => {
    const { headers } = await reply(['1'], { warnings: ['The image is truncated.', 'It has no colors.'] });

    expect(headers['X-Warnings']).toBe('The image is truncated. It has no colors.');
  });

  it('lists options that have no effect on the kind of the source', async () => {
    const optionNames = ['--fit', '--landscape', '--separator', '-f'];
    const result = { ok: true, objectKeys: ['1'], sourceKind: 'docx' } as const;

    const { headers } = await outputReply(
      { tool: doc2any, format: 'pdf', optionNames, ignored: [] },
      result,
      {
        url: async (key) => key,
      },
    );

    expect(headers['X-Ignored-Options']).toBe('--fit, --separator');
  });

  it.each([
    ['jpg', '-density'],
    ['svg', undefined],
  ])(
    'lists an option that affects only some outputs, unless it affects the source: %s',
    async (sourceKind, header) => {
      const request = { tool: imageproc, format: 'webp', optionNames: ['-density'], ignored: [] } as const;

      const { headers } = await outputReply(
        request,
        { ok: true, objectKeys: ['1'], sourceKind },
        { url: async (key) => key },
      );

      expect(headers['X-Ignored-Options']).toBe(header);
    },
  );

  it.each([
    [false, 'timeout'],
    [true, undefined],
  ])('says whether a page was still changing when its time ran out: %s', async (settled, header) => {
    expect((await reply(['1'], { settled })).headers['X-Settled']).toBe(header);
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
