import { parseArgs } from 'node:util';
import type { RateLimits } from '../../functions/shared/settings/service.ts';
import { readEmail } from '../../functions/site/accounts/members.ts';

/** A mistake on the command line. */
export class UsageError extends Error {}

/** Limits to set; `null` removes one. */
type LimitChanges = { readonly [Name in keyof RateLimits]: number | null };

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  table: { type: 'string' },
  region: { type: 'string' },
  name: { type: 'string' },
  hash: { type: 'string' },
  account: { type: 'string' },
  expires: { type: 'string' },
  tools: { type: 'string' },
  signing: { type: 'boolean' },
  operator: { type: 'boolean' },
  'per-minute': { type: 'string' },
  'per-month': { type: 'string' },
  concurrent: { type: 'string' },
  overlap: { type: 'string' },
  rotate: { type: 'boolean' },
  month: { type: 'string' },
  csv: { type: 'boolean' },
} as const;

export type OptionName = keyof typeof OPTIONS;

/** Options of all commands. */
const COMMON: readonly string[] = ['help', 'json', 'table', 'region'] satisfies OptionName[];
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The arguments of one command. Each method checks what it returns. @throws UsageError */
export class Arguments {
  readonly values: ReturnType<typeof parse>['values'];
  /** The words after the name of the command. */
  readonly words: readonly string[];
  readonly command: string;
  readonly #tools: readonly string[];
  readonly #now: number;

  constructor(args: readonly string[], tools: readonly string[], now: number) {
    const { values, positionals } = parse(args);
    this.values = values;
    [this.command = 'help', ...this.words] = positionals;
    this.#tools = tools;
    this.#now = now;
  }

  /** Rejects options and words that a command does not take. */
  check(takes: readonly OptionName[], maxWords: number): void {
    const known = [...COMMON, ...takes];
    const option = Object.keys(this.values).find((each) => !known.includes(each));
    if (option) throw new UsageError(`The command '${this.command}' has no option --${option}.`);
    const word = this.words[maxWords];
    if (word !== undefined) throw new UsageError(`Unexpected argument '${shorten(word)}'.`);
  }

  /** Returns the ID of a key, the first word. */
  key(): string {
    const [id] = this.words;
    if (id === undefined)
      throw new UsageError(`The command '${this.command}' needs the ID of a key, such as key_0123456789.`);
    if (!/^key_[0-9A-Z]{10}$/.test(id))
      throw new UsageError(`'${shorten(id)}' is not a key ID. A key ID looks like key_0123456789.`);
    return id;
  }

  /** Returns the ID or email address of an account, or the ID of a key, the first word. */
  keyOrAccount(): { readonly id: string; readonly isAccount: boolean } {
    const [id] = this.words;
    return id !== undefined && isAccount(id) ? { id, isAccount: true } : { id: this.key(), isAccount: false };
  }

  /** Returns the ID or email address of an account, the first word. */
  account(): string {
    const [account = ''] = this.words;
    if (isAccount(account)) return account;
    throw new UsageError(`The command '${this.command}' needs an account. 'show ID' tells that of a key.`);
  }

  /** Returns the name and the restrictions of a new key. */
  newKey() {
    const { account, expires, tools, signing } = this.values;
    const name = this.values.name?.trim();
    // These characters would start a new line or reverse text in a table.
    if (!name || name.length > 100 || /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(name))
      throw new UsageError('--name must have 1 to 100 characters, without control characters.');
    if (account !== undefined && !isAccount(account))
      throw new UsageError(`--account must be the account of an existing key, got '${account}'.`);
    const limits = this.limits();
    if (Object.values(limits).includes(null))
      throw new UsageError(
        `The value 'default' is only for the command 'limits'. Leave the option out to give a new key the default limit.`,
      );
    return {
      name,
      ...(account !== undefined && { account }),
      ...(expires !== undefined && { expires: this.#now + this.#lifetime(expires) }),
      ...(tools !== undefined && { tools: this.#toolNames(tools) }),
      ...(signing && { kind: 'signing' as const }),
      limits: limits as RateLimits,
    };
  }

  /** Returns the restrictions to change. `null` lifts one. */
  restrictions() {
    const { tools, expires } = this.values;
    const limits = this.limits();
    if (Object.keys(limits).length === 0 && tools === undefined && expires === undefined)
      throw new UsageError(
        'Give at least one of --per-minute, --per-month, --concurrent, --tools and --expires.',
      );
    return {
      limits,
      ...(tools !== undefined && { tools: tools === 'all' ? null : this.#toolNames(tools) }),
      ...(expires !== undefined && {
        expires: expires === 'never' ? null : this.#now + this.#lifetime(expires),
      }),
    };
  }

  limits(): LimitChanges {
    const names = { perMinute: 'per-minute', perMonth: 'per-month', concurrent: 'concurrent' } as const;
    const given = Object.entries(names).flatMap(([name, option]) => {
      const text = this.values[option];
      return text === undefined ? [] : [[name, readLimit(option, text)] as const];
    });
    return Object.fromEntries(given);
  }

  /** Returns when something expires, in epoch milliseconds. */
  end(absent: string): number {
    return this.#now + this.#lifetime(this.values.expires ?? absent);
  }

  /** Returns the overlap of two keys in milliseconds. */
  overlap(absent: string): number {
    return readDuration('overlap', this.values.overlap ?? absent);
  }

  #lifetime(text: string): number {
    const lifetime = readDuration('expires', text);
    if (lifetime === 0) throw new UsageError(`--expires must be more than zero, got '${text}'.`);
    return lifetime;
  }

  #toolNames(text: string): readonly string[] {
    const allowed = [...new Set(text.split(',').map((tool) => tool.trim()))];
    const unknown = allowed.find((tool) => !this.#tools.includes(tool));
    if (unknown === undefined) return allowed;
    throw new UsageError(
      `--tools must be a comma-separated list of ${this.#tools.join(', ')}, got '${unknown}'.`,
    );
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    const { message } = thrown as Error;
    const valueless = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument/.exec(message)?.[1];
    throw new UsageError(valueless ? `${valueless} needs a value.` : message.split('. ')[0]!);
  }
}

/** Whether a text can be the ID or email address of an account, and is not the ID of a key. */
function isAccount(text: string): boolean {
  return isEmail(text) || (/^[\w-]{8,64}$/.test(text) && !text.startsWith('key_'));
}

/** Whether a text names an account by its email address. Its ID has no such sign. */
export function isEmail(text: string): boolean {
  return text.includes('@') && readEmail(text) !== undefined;
}

function readDuration(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--${option} must be a duration such as 90d or 24h, got '${text}'.`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

function readLimit(option: string, text: string): number | null {
  if (text === 'default') return null;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 1e9) return value;
  throw new UsageError(`--${option} must be an integer from 0 to 1000000000, or 'default', got '${text}'.`);
}

/** Shortens an argument for a message. A misplaced one may be an API key, which must not end up in a log. */
function shorten(text: string): string {
  return text.length > 16 ? `${text.slice(0, 4)}…` : text;
}
