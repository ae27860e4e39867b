import { createHash, randomBytes } from 'node:crypto';

/** Crockford's base 32, without I, L, O and U, so that a key can be read aloud. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const SHAPE = /^[0-9A-HJKMNP-TV-Z]{7}(-[0-9A-HJKMNP-TV-Z]{7}){3}$/;
const ANYWHERE = new RegExp(SHAPE.source.slice(1, -1), 'i');

/** Creates an API key: 128 random bits and a checksum of 12 bits, as four groups of seven letters and digits. */
export function createApiKey(): string {
  return format(randomBytes(16).toString('hex'));
}

/** Whether a text has a valid checksum. Anything else cannot be a key and needs no lookup. */
export function isWellFormed(apiKey: string): boolean {
  if (!SHAPE.test(apiKey)) return false;
  const value = [...apiKey.replaceAll('-', '')].reduce(
    (sum, digit) => sum * 32n + BigInt(ALPHABET.indexOf(digit)),
    0n,
  );
  return format((value >> 12n).toString(16).padStart(32, '0')) === apiKey;
}

/** Whether a text contains what looks like a key. */
export function containsApiKey(text: string): boolean {
  return ANYWHERE.test(text);
}

/** Replaces whatever looks like a key. */
export function withoutApiKeys(text: string): string {
  return text.replace(new RegExp(ANYWHERE, 'gi'), '…');
}

/** Returns the 64 hexadecimal digits that are stored instead of a key. 128 random bits need no slow hash. */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Returns the public id of a key: `key_` and the first 50 bits of its hash, so a key is found by its id as well. */
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
