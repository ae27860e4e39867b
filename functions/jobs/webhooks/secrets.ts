import { randomBytes } from 'node:crypto';
import { folderOf } from '../../platform/storage.ts';
import type { Item, Table } from '../../platform/table.ts';
import { DAY } from '../../shared/time.ts';

/** How long the previous secret also signs after a rotation, in milliseconds. */
export const OVERLAP = DAY;

/** Keeps the secrets that sign the webhooks of each account. */
export interface WebhookSecrets {
  /** Returns the secrets that sign now, the newest first. Creates the first one. */
  get(account: string): Promise<readonly string[]>;
  /** Replaces the secret and returns the new one. The old one signs as well during `OVERLAP`. */
  rotate(account: string): Promise<string>;
  erase(account: string): Promise<void>;
}

const PREFIX = 'webhook#';

/** Keeps the secrets of an account in one item. Receivers need them as they are, so they cannot be hashed. */
export function createWebhookSecrets(table: Table): WebhookSecrets {
  const idOf = (account: string) => PREFIX + folderOf(account);
  return {
    async get(account) {
      const id = idOf(account);
      const found = await table.get(id);
      if (found) return secretsIn(found);
      await table.update(id, { set: { account, secret: createSecret() }, when: { id: 'absent' } });
      return secretsIn((await table.get(id))!);
    },
    async rotate(account) {
      const [previous] = await this.get(account);
      const secret = createSecret();
      await table.update(idOf(account), { set: { account, secret, previous, until: Date.now() + OVERLAP } });
      return secret;
    },
    erase: async (account) => void (await table.remove(idOf(account))),
  };
}

/** Creates a secret in the form of the Standard Webhooks specification. */
function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function secretsIn({ secret, previous, until = 0 }: Item): string[] {
  const isValid = previous !== undefined && Number(until) > Date.now();
  return [String(secret), ...(isValid ? [String(previous)] : [])];
}
