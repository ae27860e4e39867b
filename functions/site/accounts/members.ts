import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Keys } from '../../platform/keys/keys.ts';
import type { Records } from '../../platform/records/records.ts';

/** A person who can sign in. */
export interface Member {
  /** Owner of the API keys. */
  readonly account: string;
  readonly email: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Sessions that began earlier have ended. Epoch milliseconds. */
  readonly signedOut: number;
}

interface Link {
  readonly email: string;
  /** Whether it may create a member. Links for others are stored too, so that both take the same time. */
  readonly mayCreate: boolean;
}

interface Session {
  readonly account: string;
  readonly began: number;
}

const MINUTE = 60_000;
/** Milliseconds in which a link must be used. */
export const LINK_LIFETIME = 15 * MINUTE;
/** Milliseconds after which a member must sign in again. */
export const SESSION_LIFETIME = 30 * 24 * 60 * MINUTE;

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

  constructor(records: Records, keys: Keys) {
    this.#records = records;
    this.#keys = keys;
  }

  /** Returns the token of a link for anyone, who becomes a member by using it. */
  async invite(email: string): Promise<string> {
    return this.#createLink({ email, mayCreate: true });
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
    const { email, mayCreate } = JSON.parse(text) as Link;
    const byEmail = `email#${hashOf(email)}`;
    const isNew = mayCreate && (await this.#records.add(byEmail, randomUUID()));
    const account = await this.#records.get(byEmail);
    if (account === undefined) return undefined;
    const member: Member = { account, email, created: Date.now(), signedOut: 0 };
    await this.#records.add(`member#${account}`, JSON.stringify(member));
    const session = await this.#createSession(account);
    if (!isNew) return { session };
    const { apiKey } = await this.#keys.create({ name: 'first', account });
    return { session, apiKey };
  }

  async #createSession(account: string): Promise<string> {
    const token = createToken();
    const session: Session = { account, began: Date.now() };
    await this.#records.add(
      `session#${hashOf(token)}`,
      JSON.stringify(session),
      session.began + SESSION_LIFETIME,
    );
    return token;
  }

  /** Returns the member of a session that has not ended. */
  async find(session: string | undefined): Promise<Member | undefined> {
    if (session === undefined || !isToken(session)) return undefined;
    const text = await this.#records.get(`session#${hashOf(session)}`);
    if (text === undefined) return undefined;
    const { account, began } = JSON.parse(text) as Session;
    const member = await this.#read(account);
    return member && began > member.signedOut ? member : undefined;
  }

  async #read(account: string): Promise<Member | undefined> {
    const text = await this.#records.get(`member#${account}`);
    return text === undefined ? undefined : (JSON.parse(text) as Member);
  }

  /** Ends one session. */
  async signOut(session: string | undefined): Promise<void> {
    if (session !== undefined) await this.#records.take(`session#${hashOf(session)}`);
  }

  /** Ends all sessions of a member. */
  async signOutEverywhere(member: Member): Promise<void> {
    await this.#records.set(
      `member#${member.account}`,
      JSON.stringify({ ...member, signedOut: Date.now() } satisfies Member),
    );
  }

  /** Deletes a member, and revokes the API keys. Sessions end because they have no member. */
  async remove({ account, email }: Member): Promise<void> {
    const own = (await this.#keys.list()).filter((key) => key.account === account);
    for (const { id } of own) await this.#keys.revoke(id);
    await this.#records.take(`member#${account}`);
    await this.#records.take(identityRecord(account));
    await this.#records.take(`email#${hashOf(email)}`);
  }
}
