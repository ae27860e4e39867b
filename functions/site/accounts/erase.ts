import { randomBytes } from 'node:crypto';
import type { Stores } from '../../platform/stores.ts';
import { Members } from './members.ts';

export interface ErasableStores extends Readonly<Omit<Stores, 'limiter'>> {
  /** Deletes the results and uploads of an account. Absent if they can only expire. */
  readonly removeFiles?: ((account: string) => Promise<void>) | undefined;
  /** Deletes the user of the sign-in provider. Absent if only an administrator of the provider can do that. */
  readonly removeUser?: ((email: string) => Promise<void>) | undefined;
}

/** Counts what was erased, and says what remains, why and how long. */
export interface Erasure {
  readonly account: string;
  readonly erased: Readonly<Record<string, number>>;
  readonly kept: readonly string[];
}

/** Erases everything that is known about an account and the person behind it. Can be repeated if it fails. */
export async function eraseAccount(account: string, stores: ErasableStores): Promise<Erasure> {
  const { accounts, keys, audit, removeFiles, removeUser } = stores;
  const { email } = (await accounts.get(account)) ?? {};
  const ownKeys = await keys.listOf(account);
  // First, so that no new call adds to what is erased next.
  for (const { id } of ownKeys) await keys.revoke(id);
  await removeFiles?.(account);
  await stores.webhookSecrets.erase(account);
  if (email !== undefined) await removeUser?.(email);
  const erased = {
    usage: await stores.usage.erase(account),
    failures: await stores.failures.erase(account),
    answers: await stores.idempotency.erase(account),
    jobs: await stores.jobs.erase(account),
    buckets: await stores.prefixes.erase(account),
    audit: email === undefined ? 0 : await audit.replace(email, `erased-${randomBytes(6).toString('hex')}`),
    keys: ownKeys.length,
    // Comes last, because the email address leads to the rest.
    records: await new Members(stores).erase(account, email),
  };
  const kept = [
    'Totals of all accounts: they name nobody.',
    'The number of calls in this month, by the random ID of the account, until the month ends: billing and protection against abuse.',
    ...(email === undefined
      ? []
      : [
          'A hash of the email address with the restrictions of the account, until the month ends or for 400 days if it was restricted: protection against abuse.',
          'Entries of the audit log, with a pseudonym in place of the email address: they prove who changed what.',
        ]),
    'Log lines and backups, until they expire.',
    ...(removeFiles ? [] : ['Results and uploads, until they expire within the configured days.']),
    ...(email === undefined || removeUser
      ? []
      : ['The user at the sign-in provider, if there is one: delete it there.']),
  ];
  return { account, erased, kept };
}
