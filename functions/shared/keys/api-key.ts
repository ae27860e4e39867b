import { createHash, randomBytes } from 'node:crypto';

/** Crockford's base 32: no I, L, O, U, so a key survives being read aloud. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const SHAPE = /^[0-9A-HJKMNP-TV-Z]{7}(-[0-9A-HJKMNP-TV-Z]{7}){3}$/;

/** Makes an API key: 128 random bits and a checksum of 12 bits, as four groups of seven letters and digits. */
export function createApiKey(): string {
  return format(randomBytes(16).toString('hex'));
}

/** Whether a text can be a key at all, told from its checksum: what fails needs no look into the table. */
export function isWellFormed(apiKey: string): boolean {
  if (!SHAPE.test(apiKey)) return false;
  const value = [...apiKey.replaceAll('-', '')].reduce(
    (sum, digit) => sum * 32n + BigInt(ALPHABET.indexOf(digit)),
    0n,
  );
  return format((value >> 12n).toString(16).padStart(32, '0')) === apiKey;
}

/** Answers the 64 hexadecimal digits that stand for a key wherever it is stored: 128 random bits need no slow hash. */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
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
