import { describe, expect, it } from 'vitest';
import { createApiKey, hashApiKey } from '../../../functions/platform/keys.ts';
import { containsApiKey, withoutApiKeys } from '../../../functions/shared/log.ts';

describe('an API key', () => {
  it('is four groups of seven separated by hyphens, and always different', () => {
    const apiKeys = Array.from({ length: 500 }, createApiKey);

    expect(new Set(apiKeys).size).toBe(500);
    for (const apiKey of apiKeys) expect(apiKey).toMatch(/^[0-9A-Z]{7}-[0-9A-Z]{7}-[0-9A-Z]{7}-[0-9A-Z]{7}$/);
  });

  it('is random in every group', () => {
    const groups = Array.from({ length: 20 }, createApiKey).flatMap((apiKey) => apiKey.split('-'));

    expect(new Set(groups).size).toBe(80);
  });

  it('is found in a text, and removed from it', () => {
    const [one, other] = [createApiKey(), createApiKey().toLowerCase()];

    expect(withoutApiKeys(`a ${one} b-${other}, x${one}${other}`)).toBe('a … b-…, x……');
    expect(withoutApiKeys('a-b 1234567-1234567-1234567')).toBe('a-b 1234567-1234567-1234567');
    expect([containsApiKey(`a${one}`), containsApiKey(`a${other}`)]).toEqual([true, true]);
    expect(containsApiKey('1234567-1234567-1234567')).toBe(false);
  });

  it('is stored as a hash that does not contain it', () => {
    const apiKey = createApiKey();

    const hash = hashApiKey(apiKey);

    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).toBe(hashApiKey(apiKey));
    expect(hash).not.toBe(hashApiKey(createApiKey()));
  });
});
