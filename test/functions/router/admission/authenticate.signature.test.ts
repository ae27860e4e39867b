import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashApiKey, type KeyFinder, keyIdOf } from '../../../../functions/platform/keys.ts';
import { isSignedLink, signQuery, verifyLink } from '../../../../functions/router/admission/authenticate.ts';
import { recordOf } from '../../accounts.ts';

/** The key of the vectors in the reference. It is nobody's. */
const API_KEY = '0123456-789ABCD-EFGHJKM-NPQRSTV';
const secret = hashApiKey(API_KEY);
const id = keyIdOf(secret);
const expires = 1_800_000_000;
const NOW = 1_799_999_999_000;
const record = recordOf('owner', { id, kind: 'signing' });
const keys: KeyFinder = {
  find: async () => undefined,
  findSigner: async (given) => (given === id ? { record, secret } : undefined),
};

/** Signatures were computed by `openssl dgst -sha256 -hmac SECRET`. */
const VECTORS = [
  [
    { app: 'html2image', infile: 'https://example.com/', outfile: 'page.png', '--width': '800' },
    `--width=800&_expires=1800000000&_key=${id}&app=html2image&infile=https%3A%2F%2Fexample.com%2F&outfile=page.png`,
    'e7126eef27e0eebfb900ce38b04af1daa331414e72475d9b79d25483faf80037',
  ],
  [
    {
      app: 'imageproc',
      infile: 'https://example.com/a.png?a=1&b=2',
      outfile: 'a.jpg',
      _args: '-crop 50x50+0+0 -resize 200x',
      _response: 'redirect',
    },
    `_args=-crop%2050x50%2B0%2B0%20-resize%20200x&_expires=1800000000&_key=${id}&_response=redirect&app=imageproc&infile=https%3A%2F%2Fexample.com%2Fa.png%3Fa%3D1%26b%3D2&outfile=a.jpg`,
    '99925c621da0e8cf0c623580f9631f293320ca59325c384622d711391cbfa277',
  ],
  [
    {
      app: 'imageproc',
      infile: "https://example.com/Übersicht's (x)*~.png",
      outfile: '図-1_a.jpg',
      '-resize': '800x600!',
    },
    `-resize=800x600%21&_expires=1800000000&_key=${id}&app=imageproc&infile=https%3A%2F%2Fexample.com%2F%C3%9Cbersicht%27s%20%28x%29%2A~.png&outfile=%E5%9B%B3-1_a.jpg`,
    undefined,
  ],
] as const;

const pairsOf = (query: Readonly<Record<string, string>>) =>
  Object.entries(query).map(([name, value]) => ({ name, value }));
const decoded = (rawQuery: string) =>
  [...new URLSearchParams(rawQuery)].map(([name, value]) => ({ name, value }));
const verify = (rawQuery: string, now = NOW) => verifyLink({ query: decoded(rawQuery), rawQuery }, keys, now);

describe('a signed link', () => {
  it.each(VECTORS)('is that of the vector for %j', async (query, canonical, signature) => {
    const link = signQuery(pairsOf(query), { id, secret, expires });

    expect(link.slice(0, link.lastIndexOf('&'))).toBe(canonical);
    if (signature) expect(link).toBe(`${canonical}&_signature=${signature}`);
    await expect(verify(link)).resolves.toBe(record);
  });

  it('is shown in the reference as it is computed here', () => {
    const reference = readFileSync(
      join(import.meta.dirname, '../../../../functions/router/README.md'),
      'utf8',
    );

    for (const [, canonical, signature] of VECTORS.slice(0, 2)) {
      expect(reference).toContain(canonical);
      expect(reference).toContain(signature);
    }
    for (const text of [API_KEY, secret, id]) expect(reference).toContain(text);
  });

  it('is refused with any one byte changed, removed or added', async () => {
    const link = signQuery(pairsOf(VECTORS[2][0]), { id, secret, expires });
    const changed = [...link].flatMap((character, at) => [
      ...['0', 'a', 'F', '&', '=', '%', '+', '#', '\x7f'].map(
        (other) => link.slice(0, at) + other + link.slice(at + 1),
      ),
      link.slice(0, at) + String.fromCharCode(character.charCodeAt(0) ^ 0x20) + link.slice(at + 1),
      link.slice(0, at) + link.slice(at + 1),
      `${link.slice(0, at)}&${link.slice(at)}`,
    ]);
    const different = [...new Set([...changed, `${link}&`, `${link}&a=`])].filter((text) => text !== link);

    const outcomes = await Promise.all(
      different.map((text) =>
        verify(text).then(
          () => `accepted: ${text}`,
          (error: { code?: string }) => error.code,
        ),
      ),
    );

    expect(different.length).toBeGreaterThan(2500);
    expect([...new Set(outcomes)]).toEqual(['INVALID_LINK']);
    // The service still treats the request as that of a signed link.
    expect(different.filter((text) => !isSignedLink(decoded(text)))).toEqual([]);
  });

  it('is refused by a gateway that decodes the query if a name or a value has changed', async () => {
    const link = signQuery(pairsOf(VECTORS[1][0]), { id, secret, expires });
    const query = decoded(link);
    const changed = query.flatMap(({ name, value }, at) => [
      query.with(at, { name: `${name}x`, value }),
      query.with(at, { name, value: `${value.slice(0, -1)}0` }),
      query.toSpliced(at, 1),
      [...query, { name, value }],
    ]);

    for (const one of changed.filter((pairs) => JSON.stringify(pairs) !== JSON.stringify(query))) {
      await expect(verifyLink({ query: one }, keys, NOW)).rejects.toMatchObject({ code: 'INVALID_LINK' });
    }
    // Such a gateway does not keep the order of names.
    await expect(verifyLink({ query: query.toReversed() }, keys, NOW)).resolves.toBe(record);
  });

  it('expires', async () => {
    const link = signQuery(pairsOf(VECTORS[0][0]), { id, secret, expires });

    await expect(verify(link, 1000 * expires)).rejects.toMatchObject({
      code: 'INVALID_LINK',
      message: 'This signed link has expired.',
    });
  });

  it.each([
    ['another key', { id: 'key_0000000000', secret, expires }],
    ['another secret', { id, secret: hashApiKey('another'), expires }],
  ])('is refused with %s, in the same words', async (_, signer) => {
    const link = signQuery(pairsOf(VECTORS[0][0]), signer);

    await expect(verify(link)).rejects.toMatchObject({
      code: 'INVALID_LINK',
      message: 'The signature of this link does not match its query, or its key is not valid.',
    });
  });
});
