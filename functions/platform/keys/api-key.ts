import { createHash, randomBytes } from 'node:crypto';

/** Crockford's base 32, which has no I, L, O and U, so that a key can be read aloud. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Creates an API key: 128 random bits and a 12-bit checksum, as four groups of seven letters and digits. */
export function createApiKey(): string {
  return format(randomBytes(16).toString('hex'));
}

/**
 * Returns the 64 hexadecimal digits that are stored instead of a key. A slow hash is unnecessary for 128 random bits.
 */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Returns the public ID of a key: `key_` and the first 50 bits of its hash, so a key can also be found by its ID. */
export function keyIdOf(hash: string): string {
  const value = BigInt(`0x${hash.slice(0, 13)}`) >> 2n;
  const digits = Array.from(
    { length: 10 },
    (_, place) => ALPHABET[Number((value >> BigInt(45 - 5 * place)) & 31n)],
  );
  return `key_${digits.join('')}`;
}

function format(random: string): string {
  const checksum = createHash('sha256').update(`api key ${random}`).digest('hex').slice(0, 3);
  const value = BigInt(`0x${random}${checksum}`);
  const digits = Array.from(
    { length: 28 },
    (_, place) => ALPHABET[Number((value >> BigInt(135 - 5 * place)) & 31n)],
  );
  return digits.join('').match(/.{7}/g)!.join('-');
}
