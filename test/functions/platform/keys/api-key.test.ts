import { describe, expect, it } from 'vitest';
import { createApiKey, hashApiKey, isWellFormed } from '../../../../functions/platform/keys/api-key.ts';

describe('an API key', () => {
  it('is four groups of seven separated by hyphens, and always different', () => {
    const apiKeys = Array.from({ length: 500 }, createApiKey);

    expect(new Set(apiKeys).size).toBe(500);
    for (const apiKey of apiKeys) expect(apiKey).toMatch(/^[0-9A-Z]{7}-[0-9A-Z]{7}-[0-9A-Z]{7}-[0-9A-Z]{7}$/);
  });

  it('is recognized by its checksum', () => {
    const apiKeys = Array.from({ length: 500 }, createApiKey);

    expect(apiKeys.every(isWellFormed)).toBe(true);
  });

  it('is rejected with any letter changed, except for the few that match the 12-bit checksum', () => {
    const apiKey = createApiKey();
    const changed = [...apiKey].flatMap((letter, place) =>
      [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ']
        .filter((other) => other !== letter && letter !== '-')
        .map((other) => apiKey.slice(0, place) + other + apiKey.slice(place + 1)),
    );

    const accepted = changed.filter(isWellFormed);

    expect(changed.length).toBe(28 * 31);
    expect(accepted.length).toBeLessThan(10);
  });

  it.each([
    '',
    'a',
    '1234-5678-9012-3456',
    '0000000-0000000-0000000-000000',
    'ZZZZZZZ-ZZZZZZZ-ZZZZZZZ-ZZZZZZZ',
  ])('is not %j', (text) => {
    expect(isWellFormed(text)).toBe(false);
  });

  it('is stored as a hash that does not contain it', () => {
    const apiKey = createApiKey();

    const hash = hashApiKey(apiKey);

    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).toBe(hashApiKey(apiKey));
    expect(hash).not.toBe(hashApiKey(createApiKey()));
  });
});
