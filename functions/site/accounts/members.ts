import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Account, AccountTable } from '../../platform/accounts.ts';
import { isValid, type KeyRecord, type Keys, type Restrictions } from '../../platform/keys.ts';
import { windowEnds } from '../../platform/limits.ts';
import type { Records } from '../../platform/stores.ts';
import { DAY, dayOf, HOUR, MINUTE } from '../../shared/time.ts';

/** A person who can sign in. */
export interface Member {
  /** Owner of the API keys. */
  readonly account: string;
  readonly email: string;
  readonly role?: Account['role'];
}

interface Link {
  readonly email: string;
  /** Whether the link may create a member. Links that may not are stored too, so that both take the same time. */
  readonly mayCreate: boolean;
  /** Whether an operator has invited this person, who need not know about API keys. */
  readonly isInvited?: boolean;
  /** Role granted to whoever uses the link. No page of the site creates such a link. */
  readonly role?: Account['role'];
}

/**
 * Survives a deleted account, so that signing up again neither resets the quota of the month nor lifts restrictions.
 */
interface Deleted {
  readonly account: string;
  readonly restrictions: Restrictions;
}

interface Session {
  readonly account: string;
  readonly began: number;
}

/** How long a requested link works, and an invitation by an operator, in milliseconds. */
const LINK_LIFETIME = 15 * MINUTE;
const INVITATION_LIFETIME = 7 * DAY;
/** Milliseconds until a member, or an operator, must sign in again. */
export const SESSION_LIFETIME = 30 * DAY;
const OPERATOR_SESSION = 12 * HOUR;
/**
 * Stands for the email address of whoever runs this service. It is not a valid one, so nobody can request a link for it.
 */
export const LOCAL_OPERATOR = 'operator';

/** Returns an email address in lower case, or `undefined` if the text is not a single valid email address. */
export function readEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return /^[^\s@<>()[\]",;:\\]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(email) && email.length <= 254
    ? email
    : undefined;
}

/** Maximum milliseconds for which a deleted account keeps its restrictions. */
const RESTRICTED_LIFETIME = 400 * DAY;

/** Returns when a deleted account is forgotten, in epoch milliseconds. */
function keptUntil({ limits, tools, expires }: Restrictions): number {
  const isRestricted = tools !== undefined || expires !== undefined || Object.keys(limits).length > 0;
  return isRestricted ? Date.now() + RESTRICTED_LIFETIME : windowEnds(Date.now()).month;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const createToken = () => randomBytes(16).toString('base64url');
/** Returns the name of the record with the OpenID Connect identity that signs in to an account. */
export const identityRecord = (account: string) => `openid-of#${account}`;
const isToken = (text: string) => /^[\w-]{22}$/.test(text);

/** Members with their one-time links and sessions. Tokens are stored only as hashes. */
export class Members {
  readonly #records: Records;
  readonly #keys: Keys;
  readonly #accounts: AccountTable;

  constructor({ records, keys, accounts }: { records: Records; keys: Keys; accounts: AccountTable }) {
    this.#records = records;
    this.#keys = keys;
    this.#accounts = accounts;
  }

  /** Returns the token of a link that makes whoever uses it a member. */
  async invite(email: string): Promise<string> {
    return this.#createLink({ email, mayCreate: true, isInvited: true }, INVITATION_LIFETIME);
  }

  /**
   * Returns the token of a link that makes whoever uses it an operator. Only for commands on the machine of the
   * service.
   */
  async inviteOperator(email: string = LOCAL_OPERATOR): Promise<string> {
    return this.#createLink({ email, mayCreate: true, role: 'operator' });
  }

  /** Whether an email address belongs to an operator. */
  async isOperator(email: string): Promise<boolean> {
    const account = await this.#records.get(`email#${hashOf(email)}`);
    return account !== undefined && (await this.#accounts.get(account))?.role === 'operator';
  }

  /**
   * Returns the token of a link and whether to send it. Unless everyone may sign up, links are sent only to members.
   */
  async requestLink(email: string, isOpen: boolean): Promise<{ token: string; isValid: boolean }> {
    const account = await this.#records.get(`email#${hashOf(email)}`);
    const token = await this.#createLink({ email, mayCreate: isOpen });
    return { token, isValid: isOpen || account !== undefined };
  }

  async #createLink(link: Link, lifetime = LINK_LIFETIME): Promise<string> {
    const token = createToken();
    await this.#records.add(`link#${hashOf(token)}`, JSON.stringify(link), Date.now() + lifetime);
    return token;
  }

  /** Redeems a link. Returns a new session, and the first API key of a new member. */
  async redeem(
    token: string,
  ): Promise<{ session: string; apiKey?: string; isInvited?: boolean } | undefined> {
    const text = isToken(token) ? await this.#records.take(`link#${hashOf(token)}`) : undefined;
    if (text === undefined) return undefined;
    const { email, mayCreate, isInvited, role } = JSON.parse(text) as Link;
    const byEmail = `email#${hashOf(email)}`;
    const deleted = await this.#readDeleted(email);
    const isNew = mayCreate && (await this.#records.add(byEmail, deleted?.account ?? randomUUID()));
    const account = await this.#records.get(byEmail);
    if (account === undefined) return undefined;
    const before = await this.#accounts.get(account);
    // Repairs a sign-up that was interrupted.
    if (!before?.email && mayCreate) await this.#accounts.add(account, email);
    const endsSessions = { signedOut: Date.now() - 1 };
    // The new account has the same ID, but must not inherit sessions from before the account was deleted.
    if (!before && deleted)
      await this.#accounts.update(account, { ...endsSessions, restrictions: deleted.restrictions });
    // Sessions from before the role was granted must not get it.
    if (role && !before?.role) await this.#accounts.update(account, { role, ...endsSessions });
    const found = await this.#accounts.get(account);
    if (!found || found.disabled) return undefined;
    const session = await this.#createSession(found);
    if (!isNew || role) return { session };
    const { apiKey } = await this.#keys.create({ name: email, account });
    return { session, apiKey, ...(isInvited && { isInvited }) };
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

  /** Returns the member of a session, unless it has ended. */
  async find(session: string | undefined): Promise<Member | undefined> {
    if (session === undefined || !isToken(session)) return undefined;
    const text = await this.#records.get(`session#${hashOf(session)}`);
    if (text === undefined) return undefined;
    const { account, began } = JSON.parse(text) as Session;
    const found = await this.#accounts.get(account);
    if (!found?.email || found.disabled || began <= found.signedOut) return undefined;
    return { account, email: found.email, ...(found.role && { role: found.role }) };
  }

  /**
   * Returns a key record for the conversions of a member on the site, with the restrictions of the account, or
   * `undefined` if the session or the account has ended. The account counts as used.
   */
  async keyOf(session: string | undefined): Promise<KeyRecord | undefined> {
    const member = await this.find(session);
    const found = member && (await this.#accounts.get(member.account));
    if (!found) return undefined;
    const record = { id: 'session', account: found.id, name: 'site', created: 0, disabled: false };
    const key: KeyRecord = { ...record, ...found.restrictions };
    if (!isValid(key)) return undefined;
    // A write that fails must not refuse a conversion.
    if (found.lastUsed !== dayOf())
      await this.#accounts.update(found.id, { lastUsed: dayOf() }).catch(() => {});
    return key;
  }

  /** Ends one session. */
  async signOut(session: string | undefined): Promise<void> {
    if (session !== undefined) await this.#records.take(`session#${hashOf(session)}`);
  }

  /** Ends all sessions of an account. */
  async signOutEverywhere({ account }: Pick<Member, 'account'>): Promise<void> {
    await this.#accounts.update(account, { signedOut: Date.now() });
  }

  /**
   * Deletes an account with its sessions, links and identities, and returns the number of records. Keeps what
   * `Deleted` says of a member.
   */
  async erase(account: string, email?: string): Promise<number> {
    const restrictions = (await this.#accounts.get(account))?.restrictions ?? { limits: {} };
    const identity = await this.#records.take(identityRecord(account));
    const erased = await this.#records.erase(email === undefined ? [account] : [account, email]);
    if (email !== undefined) {
      const deleted: Deleted = { account, restrictions };
      await this.#records.add(`deleted#${hashOf(email)}`, JSON.stringify(deleted), keptUntil(restrictions));
    }
    await this.#accounts.remove(account);
    return erased + Number(identity !== undefined);
  }
}
