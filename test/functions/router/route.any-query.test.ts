import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { ERRORS } from '../../../functions/shared/errors.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';

/** Every option name that a tool knows, ignores or rejects. */
const NAMES = Object.values(tools).flatMap(({ options, ignored, refused }) => [
  ...Object.values(options).flatMap(({ names }) => names),
  ...ignored,
  ...refused,
]);
const FORMATS = ['jpg', 'png', 'webp', 'avif', 'gif', 'tiff', 'pdf', 'exe', ''];

const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1',
    '99999999999999999999',
    '1e9',
    'NaN',
    '50%',
    '800x600!',
    '%',
    '%00',
    '%d',
  ),
  fc.constantFrom(
    '../../etc/passwd',
    '[Output] http://x.example/<br>',
    '<script>',
    '\u202e',
    '\0',
    'a'.repeat(5000),
  ),
);
const anyAddress = fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), anyText);
const anyOutfile = fc.oneof(
  fc
    .tuple(fc.constantFrom('a', 'b c', '%d', 'p-%03d'), fc.constantFrom(...FORMATS))
    .map((parts) => parts.join('.')),
  anyText,
);
const anyApp = fc.oneof(fc.constantFrom(...Object.keys(tools)), anyText);
const anyOption = fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 12 })), anyText);

const anyQuery = fc
  .tuple(
    fc.option(anyApp, { freq: 9, nil: undefined }),
    fc.option(anyAddress, { freq: 9, nil: undefined }),
    fc.option(anyOutfile, { freq: 9, nil: undefined }),
    fc.array(anyOption, { maxLength: 6 }),
  )
  .map(([app, infile, outfile, options]) => [
    { name: 'apikey', value: 'KEY' },
    ...Object.entries({ app, infile, outfile }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value }],
    ),
    ...options.map(([name, value]) => ({ name, value })),
  ]);

let started = 0;
beforeEach(() => {
  started = 0;
});

const dependencies = {
  tools: Object.values(tools),
  ...unlimited,
  keys: { find: async () => recordOf('owner'), findSigner: async () => undefined },
  storage: { ...KEPT_RESULTS, grant: async () => ({}), url: async (objectKey: string) => objectKey },
  invoke: async () => {
    started += 1;
    return { ok: true, objectKeys: [] } as const;
  },
  coalesce: createCoalescer(),
  limits: CONVERSION_LIMITS,
  contact: { accountUrl: 'a', supportUrl: 's' },
  log: () => {},
};

describe('any query', () => {
  it('returns a result or an error of the caller, and starts an engine only for a result', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        started = 0;

        const { status, headers, body } = await route(
          { method: 'GET', path: '/api/', query, header: () => undefined },
          dependencies,
          new AbortController().signal,
        );

        const code = headers['X-Error-Code'] as keyof typeof ERRORS | undefined;
        if (code === undefined) {
          expect([status, started]).toEqual([200, 1]);
          return;
        }
        expect(code).not.toBe('INTERNAL');
        expect([status, started]).toEqual([ERRORS[code].status, 0]);
        expect(body).toMatch(new RegExp(`^\\[ERROR\\] [^\\0-\\x1f\\x7f]+[.?] \\(${code}\\)$`));
        expect(body).not.toMatch(/\[output\]|<br>/i);
        expect(String(body).length).toBeLessThan(4000);
      }),
      { numRuns: 500 },
    );
  });
});
