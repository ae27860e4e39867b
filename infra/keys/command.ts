import { parseArgs } from 'node:util';
import type { NewKey } from '../../functions/platform/keys/keys.ts';
import { monthOf } from '../../functions/shared/dates.ts';
import type { RateLimits } from '../../functions/shared/rate-limits.ts';
import { withoutAbsent } from '../../functions/shared/without-absent.ts';
import { readEmail } from '../../functions/site/accounts/members.ts';
import type { RestrictionChanges } from '../../functions/site/operator/operations.ts';

export const HELP = `npm run keys -- COMMAND [--json] [--table NAME [--region REGION]]

  create --name NAME [--account ACCOUNT] [--expires 90d] [--tools html2pdf,pdftools] [--signing]
         [--per-minute N] [--per-month N] [--concurrent N]
                            creates a key and prints it once; with --signing one that can only sign links
  sign ID URL [--expires 24h]
                            signs a URL without a key, such as 'https://HOST/api/?app=…&infile=…&outfile=…', with the
                            signing key ID
  import --hash HASH --name NAME [options of create]
                            adds a key that its owner already has: HASH is the output of printf %s KEY | sha256sum
  invite EMAIL              prints a link that signs a person in to the site, once, within 7 days (an operator: 15 minutes)
  invite [EMAIL] --operator prints a link that signs in an operator, and gives the account this role
  list                      lists all keys
  show ID                   shows one key
  rotate ID [--overlap 24h] creates another key with the same account, tools, limits and expiry; the old one
                            expires after the overlap
  disable ID | enable ID    refuses a key, or all keys and sessions of an account, or accepts them again
  audit                     lists the actions of operators
  revoke ID                 deletes a key
  limits ID|ACCOUNT [--per-minute N] [--per-month N] [--concurrent N] [--tools LIST] [--expires 90d]
                            sets what all keys of an account, or of the key's account, may do; 0 refuses every call, 'default'
                            instead of N removes a limit, and --tools all and --expires never lift a restriction
  usage [ID] [--month 2026-11] [--csv]
                            shows usage of the key's account, or of all accounts

Durations are a number and s, m, h or d. --table selects a DynamoDB table instead of the database in DATA_DIR.
`;

/** A mistake on the command line. */
export class UsageError extends Error {}

interface Common {
  readonly json: boolean;
  readonly table: string | undefined;
  readonly region: string | undefined;
}

/** Limits to set; `null` removes one. */
type LimitChanges = { readonly [Name in keyof RateLimits]: number | null };

export type Command = Common &
  (
    | { readonly name: 'help' | 'list' | 'audit' }
    | {
        readonly name: 'create';
        readonly key: NewKey;
      }
    | { readonly name: 'import'; readonly key: NewKey; readonly hash: string }
    | { readonly name: 'invite'; readonly email: string | undefined; readonly isOperator: boolean }
    | { readonly name: 'show' | 'disable' | 'enable' | 'revoke'; readonly id: string }
    | { readonly name: 'disable' | 'enable'; readonly account: string }
    | { readonly name: 'rotate'; readonly id: string; readonly overlap: number }
    | { readonly name: 'sign'; readonly id: string; readonly url: URL; readonly expires: number }
    | (RestrictionChanges & { readonly name: 'limits'; readonly id: string })
    | (RestrictionChanges & { readonly name: 'limits'; readonly account: string })
    | {
        readonly name: 'usage';
        readonly id: string | undefined;
        readonly month: string;
        readonly csv: boolean;
      }
  );

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
  month: { type: 'string' },
  csv: { type: 'boolean' },
} as const;

const COMMON = ['help', 'json', 'table', 'region'];
const LIMITS = ['per-minute', 'per-month', 'concurrent'];
const NEW = ['name', 'account', 'expires', 'tools', 'signing', ...LIMITS];
const TAKES: Readonly<Record<string, readonly string[]>> = {
  help: [],
  invite: ['operator'],
  audit: [],
  list: [],
  create: NEW,
  import: ['hash', ...NEW],
  show: [],
  rotate: ['overlap'],
  sign: ['expires'],
  disable: [],
  enable: [],
  revoke: [],
  limits: [...LIMITS, 'tools', 'expires'],
  usage: ['month', 'csv'],
};

/** Reads the command line. @throws UsageError that names the argument and the rule. */
export function readCommand(args: readonly string[], tools: readonly string[], now = Date.now()): Command {
  const { values, positionals } = parse(args);
  const [name = 'help', id, ...others] = positionals;
  const [url, ...extra] = name === 'sign' ? others : [undefined, ...others];
  const takes = TAKES[name];
  if (!takes) throw new UsageError(`Unknown command '${name}'.`);
  const common = { json: values.json ?? false, table: values.table, region: values.region };
  if (values.help || name === 'help') return { ...common, name: 'help' };
  const unexpected = Object.keys(values).find((option) => ![...COMMON, ...takes].includes(option));
  if (unexpected) throw new UsageError(`The command '${name}' has no option --${unexpected}.`);
  if (extra.length > 0) throw new UsageError(`Unexpected argument '${extra[0]}'.`);

  const required = () => {
    if (id === undefined)
      throw new UsageError(`The command '${name}' needs the ID of a key, such as key_0123456789.`);
    if (!/^key_[0-9A-Z]{10}$/.test(id))
      throw new UsageError(`'${shorten(id)}' is not a key ID. A key ID looks like key_0123456789.`);
    return id;
  };
  if (['create', 'import', 'list', 'audit'].includes(name) && id !== undefined)
    throw new UsageError(`Unexpected argument '${shorten(id)}'.`);
  const limits = withoutAbsent({
    perMinute: readLimit('per-minute', values['per-minute']),
    perMonth: readLimit('per-month', values['per-month']),
    concurrent: readLimit('concurrent', values.concurrent),
  });

  switch (name) {
    case 'invite': {
      const email = readEmail(id ?? '');
      const isOperator = values.operator ?? false;
      if (email === undefined && (id !== undefined || !isOperator))
        throw new UsageError(`The command 'invite' needs an email address such as name@example.com.`);
      return { ...common, name, email, isOperator };
    }
    case 'disable':
    case 'enable':
      if (id !== undefined && isAccount(id)) return { ...common, name, account: id };
      return { ...common, name, id: required() };
    case 'list':
    case 'audit':
      return { ...common, name };
    case 'create':
      return { ...common, name, key: readNewKey(values, limits, tools, now) };
    case 'import':
      return { ...common, name, key: readNewKey(values, limits, tools, now), hash: readHash(values.hash) };
    case 'rotate':
      return { ...common, name, id: required(), overlap: readDuration('overlap', values.overlap ?? '24h') };
    case 'sign': {
      const lifetime = readLifetime(values.expires ?? '24h');
      const expires = Math.floor((now + lifetime) / 1000);
      return { ...common, name, id: required(), url: readUrl(url), expires };
    }
    case 'limits':
      return {
        ...common,
        name,
        ...(id !== undefined && isAccount(id) ? { account: id } : { id: required() }),
        ...readRestrictions(values, limits, tools, now),
      };
    case 'usage': {
      const month = values.month ?? monthOf(now);
      if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
        throw new UsageError(`--month must have the form 2026-11, got '${month}'.`);
      return {
        ...common,
        name,
        id: id === undefined ? undefined : required(),
        month,
        csv: values.csv ?? false,
      };
    }
    default:
      return { ...common, name: name as 'show' | 'revoke', id: required() };
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

function readNewKey(
  values: { name?: string; account?: string; expires?: string; tools?: string; signing?: boolean },
  limits: LimitChanges,
  tools: readonly string[],
  now: number,
) {
  const name = values.name?.trim();
  // These characters would start a new line or reverse text in a table.
  if (!name || name.length > 100 || /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(name))
    throw new UsageError('--name must have 1 to 100 characters, without control characters.');
  const allowed = values.tools === undefined ? undefined : readTools(values.tools, tools);
  if (values.account !== undefined && !isAccount(values.account)) {
    throw new UsageError(`--account must be the account of an existing key, got '${values.account}'.`);
  }
  if (Object.values(limits).includes(null))
    throw new UsageError(
      `The value 'default' is only for the command 'limits'. Leave the option out to give a new key the default limit.`,
    );
  return {
    name,
    ...(values.account !== undefined && { account: values.account }),
    ...(values.expires !== undefined && { expires: now + readLifetime(values.expires) }),
    ...(allowed && { tools: allowed }),
    ...(values.signing && { kind: 'signing' as const }),
    limits: limits as RateLimits,
  };
}

function readTools(text: string, tools: readonly string[]): readonly string[] {
  const allowed = [...new Set(text.split(',').map((tool) => tool.trim()))];
  const unknown = allowed.find((tool) => !tools.includes(tool));
  if (unknown === undefined) return allowed;
  throw new UsageError(`--tools must be a comma-separated list of ${tools.join(', ')}, got '${unknown}'.`);
}

function readRestrictions(
  { tools, expires }: { tools?: string; expires?: string },
  limits: LimitChanges,
  known: readonly string[],
  now: number,
): RestrictionChanges {
  if (Object.keys(limits).length === 0 && tools === undefined && expires === undefined)
    throw new UsageError(
      'Give at least one of --per-minute, --per-month, --concurrent, --tools and --expires.',
    );
  return {
    limits,
    ...(tools !== undefined && { tools: tools === 'all' ? null : readTools(tools, known) }),
    ...(expires !== undefined && { expires: expires === 'never' ? null : now + readLifetime(expires) }),
  };
}

/** Whether a text can be the ID of an account, and is not the ID of a key. */
function isAccount(text: string): boolean {
  return /^[\w-]{8,64}$/.test(text) && !text.startsWith('key_');
}

function readHash(text = ''): string {
  const hash = text.trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new UsageError('--hash must be the SHA-256 of the key: 64 hexadecimal digits.');
}

function readUrl(text = ''): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && /\/api\/?$/.test(url.pathname) && url.search !== '')
    return url;
  throw new UsageError(
    "The command 'sign' needs the URL of a conversion, such as 'https://HOST/api/?app=html2image&infile=https%3A%2F%2Fexample.com%2F&outfile=a.png'.",
  );
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function readDuration(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--${option} must be a duration such as 90d or 24h, got '${text}'.`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

function readLifetime(text: string): number {
  const lifetime = readDuration('expires', text);
  if (lifetime === 0) throw new UsageError(`--expires must be more than zero, got '${text}'.`);
  return lifetime;
}

function readLimit(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 1e9) return value;
  throw new UsageError(`--${option} must be an integer from 0 to 1000000000, or 'default', got '${text}'.`);
}

/** Shortens an argument for a message. A misplaced one may be an API key, which must not end up in a log. */
function shorten(text: string): string {
  return text.length > 16 ? `${text.slice(0, 4)}…` : text;
}
