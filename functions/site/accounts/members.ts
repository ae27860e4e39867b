import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Account, AccountTable } from '../../platform/accounts/accounts.ts';
import type { Keys, RateLimits } from '../../platform/keys/keys.ts';
import { windowEnds } from '../../platform/limits/windows.ts';
import type { Records } from '../../platform/records/records.ts';
import { DAY, HOUR, MINUTE } from '../../shared/dates.ts';

/** A person who can sign in. */
export interface Member {
  /** Owner of the API keys. */
  readonly account: string;
  readonly email: string;
  readonly role?: Account['role'];
}

interface Link {
  readonly email: string;
  /** Whether it may create a member. Links for others are stored too, so that both take the same time. */
  readonly mayCreate: boolean;
  /** The role that whoever uses the link gets. No page of the site creates such a link. */
  readonly role?: Account['role'];
}

/** Kept of a deleted account until the month ends, so that signing up again does not renew its quota. */
interface Deleted {
  readonly account: string;
  readonly limits: RateLimits;
}

interface Session {
  readonly account: string;
  readonly began: number;
}

/** Milliseconds in which a link must be used. */
const LINK_LIFETIME = 15 * MINUTE;
/** Milliseconds after which a member must sign in again, and an operator. */
export const SESSION_LIFETIME = 30 * DAY;
const OPERATOR_SESSION = 12 * HOUR;
/** Stands for the e-mail of whoever runs this service. It is not a valid e-mail, so nobody can request a link for it. */
export const LOCAL_OPERATOR = 'operator';

/** Returns an e-mail in lower case, or `undefined` if it is none. It has no character that separates several. */
export function readEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return /^[^\s@<>()[\]",;:\\]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(email) && email.length <= 254
    ? email
    : undefined;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const createToken = () => randomBytes(16).toString('base64url');
/** Names the record of the OpenID Connect identity that signs in to an account. */
export const identityRecord = (account: string) => `openid-of#${account}`;
const isToken = (text: string) => /^[\w-]{22}$/.test(text);

/** Members, their one-time links and sessions. Tokens are stored as hashes only. */
export class Members {
  readonly #records: Records;
  readonly #keys: Keys;
  readonly #accounts: AccountTable;

  constructor({ records, keys, accounts }: { records: Records; keys: Keys; accounts: AccountTable }) {
    this.#records = records;
    this.#keys = keys;
    this.#accounts = accounts;
  }

  /** Returns the token of a link for anyone, who becomes a member by using it. */
  async invite(email: string): Promise<string> {
    return this.#createLink({ email, mayCreate: true });
  }

  /** Returns the token of a link that makes whoever uses it an operator. Only for commands on the machine of the service. */
  async inviteOperator(email: string = LOCAL_OPERATOR): Promise<string> {
    return this.#createLink({ email, mayCreate: true, role: 'operator' });
  }

  /** Whether an e-mail is that of an operator. */
  async isOperator(email: string): Promise<boolean> {
    const account = await this.#records.get(`email#${hashOf(email)}`);
    return account !== undefined && (await this.#accounts.get(account))?.role === 'operator';
  }

  /** Returns the token of a link and whether to send it: only to members, unless everyone may sign up. */
  async requestLink(email: string, isOpen: boolean): Promise<{ token: string; isValid: boolean }> {
    const account = await this.#records.get(`email#${hashOf(email)}`);
    const token = await this.#createLink({ email, mayCreate: isOpen });
    return { token, isValid: isOpen || account !== undefined };
  }

  async #createLink(link: Link): Promise<string> {
    const token = createToken();
    await this.#records.add(`link#${hashOf(token)}`, JSON.stringify(link), Date.now() + LINK_LIFETIME);
    return token;
  }

  /** Uses a link: returns a new session, and the first API key of a new member. */
  async redeem(token: string): Promise<{ session: string; apiKey?: string } | undefined> {
    const text = isToken(token) ? await this.#records.take(`link#${hashOf(token)}`) : undefined;
    if (text === undefined) return undefined;
    const { email, mayCreate, role } = JSON.parse(text) as Link;
    const byEmail = `email#${hashOf(email)}`;
    const deleted = await this.#readDeleted(email);
    const isNew = mayCreate && (await this.#records.add(byEmail, deleted?.account ?? randomUUID()));
    const account = await this.#records.get(byEmail);
    if (account === undefined) return undefined;
    const before = await this.#accounts.get(account);
    // Also after an earlier attempt that was interrupted.
    if (!before?.email && mayCreate) await this.#accounts.add(account, email);
    const endsSessions = { signedOut: Date.now() - 1 };
    // Sessions from before the account was deleted are not those of the new one, which has the same ID.
    if (!before && deleted) await this.#accounts.update(account, endsSessions);
    // Sessions from before the account had the role must not get it.
    if (role && !before?.role) await this.#accounts.update(account, { role, ...endsSessions });
    const found = await this.#accounts.get(account);
    if (!found || found.disabled) return undefined;
    const session = await this.#createSession(found);
    if (!isNew || role) return { session };
    const { apiKey } = await this.#keys.create({ name: 'first', account, limits: deleted?.limits ?? {} });
    return { session, apiKey };
  }

  async #readDeleted(email: string): Promise<Deleted | undefined> {
    const text = await this.#records.get(`deleted#${hashOf(email)}`);
    return text === undefined ? undefined : (JSON.parse(text) as Deleted);
  }

  async #createSession({ id: account, role }: Account): Promise<string> {
    const token = createToken();
    const session: Session = { account, began: Date.now() };
    await this.#records.add(
      `session#${hashOf(token)}`,
      JSON.stringify(session),
      session.began + (role ? OPERATOR_SESSION : SESSION_LIFETIME),
    );
    return token;
  }

  /** Returns the member of a session that has not ended. */
  async find(session: string | undefined): Promise<Member | undefined> {
    if (session === undefined || !isToken(session)) return undefined;
    const text = await this.#records.get(`session#${hashOf(session)}`);
    if (text === undefined) return undefined;
    const { account, began } = JSON.parse(text) as Session;
    const found = await this.#accounts.get(account);
    if (!found?.email || found.disabled || began <= found.signedOut) return undefined;
    return { account, email: found.email, ...(found.role && { role: found.role }) };
  }

  /** Ends one session. */
  async signOut(session: string | undefined): Promise<void> {
    if (session !== undefined) await this.#records.take(`session#${hashOf(session)}`);
  }

  /** Ends all sessions of an account. */
  async signOutEverywhere({ account }: Pick<Member, 'account'>): Promise<void> {
    await this.#accounts.update(account, { signedOut: Date.now() });
  }

  /** Deletes a member, and revokes the API keys. Sessions end because they have no member. */
  async remove({ account, email }: Member): Promise<void> {
    const own = await this.#keys.listOf(account);
    const deleted: Deleted = { account, limits: own[0]?.limits ?? {} };
    const name = `deleted#${hashOf(email)}`;
    await this.#records.take(name);
    await this.#records.add(name, JSON.stringify(deleted), windowEnds(Date.now()).month);
    for (const { id } of own) await this.#keys.revoke(id);
    await this.#records.take(`email#${hashOf(email)}`);
    await this.#accounts.remove(account);
    await this.#records.take(identityRecord(account));
  }
}
