import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Records } from '../../platform/stores.ts';
import { MINUTE } from '../../shared/time.ts';

/** How often the page shows a new key: once, and after one reload. */
const VIEWS = 2;
const LIFETIME = 10 * MINUTE;
const [IV_BYTES, TAG_BYTES] = [12, 16];

/**
 * Keeps the new API key of a member until the page that follows the form has shown it. The table contains it only
 * encrypted, with the token of the session, which is not stored.
 */
export class NewKeys {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Keeps a key for the next views. Replaces an earlier one of the session. */
  async keep(session: string, apiKey: string, views = VIEWS): Promise<void> {
    await this.#records.take(nameOf(session));
    const text = JSON.stringify({ views, sealed: seal(session, apiKey) });
    await this.#records.add(nameOf(session), text, Date.now() + LIFETIME);
  }

  /** Returns the key for one view, or `undefined` if there is none. */
  async show(session: string | undefined): Promise<string | undefined> {
    if (session === undefined || !(await this.#records.get(nameOf(session)))) return undefined;
    const text = await this.#records.take(nameOf(session));
    if (text === undefined) return undefined;
    const { views, sealed } = JSON.parse(text) as { views: number; sealed: string };
    const apiKey = unseal(session, sealed);
    if (views > 1) await this.keep(session, apiKey, views - 1);
    return apiKey;
  }
}

const hashOf = (purpose: string, session: string) =>
  createHash('sha256').update(`${purpose}:${session}`).digest();
const nameOf = (session: string) => `new-key#${hashOf('name of a new key', session).toString('hex')}`;
const secretOf = (session: string) => hashOf('secret of a new key', session);

function seal(session: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secretOf(session), iv);
  const content = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
}

function unseal(session: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', secretOf(session), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const content = bytes.subarray(IV_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(content), decipher.final()]).toString();
}
