import { userInfo } from 'node:os';
import { ACCESS, isPrefix } from '../../functions/buckets/places.ts';
import {
  LINK_PARAMETERS,
  readRequest,
  withSamples,
  withWholeInfile,
} from '../../functions/conversion/request.ts';
import { lastUsedOf } from '../../functions/platform/accounts.ts';
import { type KeyRecord, type Keys, keyIdOf, type NewKey } from '../../functions/platform/keys.ts';
import {
  type PriceRows,
  type ReportedRow,
  sumRows,
  usageCsv,
} from '../../functions/platform/usage-report.ts';
import { signQuery } from '../../functions/router/admission/authenticate.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { monthOf } from '../../functions/shared/time.ts';
import { type ErasableStores, eraseAccount } from '../../functions/site/accounts/erase.ts';
import { Members, readEmail } from '../../functions/site/accounts/members.ts';
import { createOperations, type Operations } from '../../functions/site/operator/operations.ts';
import * as tools from '../../functions/tools.ts';
import { Arguments, isEmail, type OptionName, UsageError } from './arguments.ts';
import {
  auditTable,
  bucketRows,
  describeAccount,
  describeErasure,
  describeKey,
  jobTable,
  keyTable,
  usageTable,
} from './print.ts';

export interface Stores extends ErasableStores {
  /** Origin of the site. */
  readonly origin: string;
  /** Absent on one machine, where nothing is billed. */
  readonly priceRows?: PriceRows | undefined;
}

type Context = Stores & { readonly operations: Operations };

/** The output of a command: a value as JSON, or a text. */
interface Printed {
  readonly value: unknown;
  readonly text: string;
}

interface Definition {
  /** Lines of the help. Those that begin with a space continue the one above. */
  readonly help: string;
  readonly takes?: readonly OptionName[];
  /** Maximum number of words after the name of the command. */
  readonly words?: number;
  /** Whether the command may create the database. */
  readonly creates?: true;
  /** Reads the arguments before a database is opened. @throws UsageError */
  readonly read: (args: Arguments) => (context: Context) => Promise<Printed>;
}

const LIMITS = ['per-minute', 'per-month', 'concurrent'] as const;
const NEW = ['name', 'account', 'expires', 'tools', 'signing', ...LIMITS] as const;

const COMMANDS: Readonly<Record<string, Definition>> = {
  create: {
    help: `create --name NAME [--account ACCOUNT] [--expires 90d] [--tools html2pdf,pdftools] [--signing]
       [--per-minute N] [--per-month N] [--concurrent N]
                          creates a key and prints it once; with --signing one that can only sign links`,
    takes: NEW,
    creates: true,
    read: (args) => {
      const key = args.newKey();
      return async (context) => {
        return printedNew(await context.operations.createKey(await withAccount(key, context)), context);
      };
    },
  },
  sign: {
    help: `sign ID URL [--expires 24h]
                          signs a URL without a key, such as 'https://HOST/api/?app=…&infile=…&outfile=…', with the
                          signing key ID`,
    takes: ['expires'],
    words: 2,
    read: (args) => {
      const link = {
        id: args.key(),
        url: readUrl(args.words[1]),
        expires: Math.floor(args.end('24h') / 1000),
      };
      return async ({ operations, keys }) => {
        await operations.logSigned(link.id);
        const url = await signUrl(link, keys);
        return { value: { url, expires: new Date(1000 * link.expires).toISOString() }, text: `${url}\n` };
      };
    },
  },
  import: {
    help: `import --hash HASH --name NAME [options of create]
                          adds a key that its owner already has: HASH is the output of printf %s KEY | sha256sum`,
    takes: ['hash', ...NEW],
    creates: true,
    read: (args) => {
      const key = args.newKey();
      const hash = readHash(args.values.hash);
      return async (context) => {
        const record = await context.operations.importKey(hash, await withAccount(key, context));
        if (!record) throw new Error(`This key already exists: ${keyIdOf(hash)}.`);
        return printedKey(record, context);
      };
    },
  },
  invite: {
    help: `invite EMAIL              prints a link that signs a person in to the site, once, within 7 days (an operator: 15 minutes)
invite [EMAIL] --operator prints a link that signs in an operator, and gives the account this role`,
    takes: ['operator'],
    words: 1,
    creates: true,
    read: ({ words: [word], values: { operator = false } }) => {
      const email = readEmail(word ?? '');
      if (email === undefined && (word !== undefined || !operator))
        throw new UsageError(`The command 'invite' needs an email address such as name@example.com.`);
      return async ({ operations, origin }) => {
        const isOperator = operator || email === undefined;
        const token = await (isOperator ? operations.inviteOperator(email) : operations.invite(email));
        const url = `${origin}/account/sign-in?token=${token}`;
        return { value: { email, url }, text: `${url}\n` };
      };
    },
  },
  list: {
    help: 'list [ACCOUNT]            lists all keys, or those of an account',
    words: 1,
    read: (args) => {
      const wanted = args.words.length === 0 ? undefined : args.account();
      return async (context) => {
        const account = wanted && (await accountIn(context, wanted));
        const all = await (account ? context.keys.listOf(account) : context.keys.list());
        const value = await withEmails(all, ({ account: owner }) => owner, context);
        return { value, text: keyTable(value) };
      };
    },
  },
  show: {
    help: 'show ID|ACCOUNT           shows a key, or an account with its keys',
    words: 1,
    read: (args) => {
      const { id, isAccount } = args.keyOrAccount();
      return async (context) => {
        if (!isAccount) return printedKey(await context.keys.get(id), context, id);
        const account = await context.accounts.get(await accountIn(context, id));
        if (!account) throw noAccountError(id);
        const keys = await context.keys.listOf(account.id);
        const lastUsed = lastUsedOf(account, keys);
        const buckets = await context.prefixes.of(account.id);
        const value = { ...account, ...(lastUsed && { lastUsed }), buckets };
        const text = `${describeAccount(value.id, value.restrictions, value)}${bucketRows(buckets)}\n${keyTable(keys)}`;
        return { value: { ...value, keys }, text };
      };
    },
  },
  rotate: {
    help: `rotate ID [--overlap 24h] creates another key with the same account, tools, limits and expiry; the old one
                          expires after the overlap`,
    takes: ['overlap'],
    words: 1,
    read: (args) => {
      const [id, overlap] = [args.key(), args.overlap('24h')];
      return async (context) => {
        const created = await context.operations.rotateKey(id, overlap);
        if (!created) throw new Error(`There is no valid key ${id}. Create a new one.`);
        return printedNew(created, context);
      };
    },
  },
  disable: {
    help: `disable ID | enable ID    refuses a key, or all keys and sessions of an account, or accepts them again`,
    words: 1,
    read: readSwitch('disableKey', 'disableAccount'),
  },
  enable: { help: '', words: 1, read: readSwitch('enableKey', 'enableAccount') },
  erase: {
    help: `erase ACCOUNT             deletes an account with everything that is known about it, and says what remains and why`,
    words: 1,
    read: (args) => {
      const wanted = args.account();
      return async (context) => {
        const id = await accountIn(context, wanted);
        await context.operations.logErased(id);
        const erasure = await eraseAccount(id, context);
        return { value: erasure, text: describeErasure(erasure) };
      };
    },
  },
  audit: {
    help: 'audit                     lists the actions of operators',
    read: () => async (context) => {
      const entries = await withEmails(await context.audit.read(), ({ subject }) => subject, context);
      return { value: entries, text: auditTable(entries) };
    },
  },
  revoke: {
    help: 'revoke ID                 deletes a key',
    words: 1,
    read: (args) => {
      const id = args.key();
      return async ({ operations }) => {
        if (!(await operations.revokeKey(id))) throw noKeyError(id);
        return { value: { id, revoked: true }, text: `${id} is revoked.\n` };
      };
    },
  },
  limits: {
    help: `limits ID|ACCOUNT [--per-minute N] [--per-month N] [--concurrent N] [--tools LIST] [--expires 90d]
                          sets what all keys of an account, or of the key's account, may do; 0 refuses every call, 'default'
                          instead of N removes a limit, and --tools all and --expires never lift a restriction`,
    takes: [...LIMITS, 'tools', 'expires'],
    words: 1,
    read: (args) => {
      const { id, isAccount } = args.keyOrAccount();
      const changes = args.restrictions();
      return async (context) => {
        const { operations, keys, accounts } = context;
        const account = isAccount ? await accountIn(context, id) : (await keys.get(id))?.account;
        if (account === undefined) throw noKeyError(id);
        if (!(await accounts.get(account))) throw noAccountError(account);
        const restrictions = await operations.restrict(account, changes, isAccount ? account : id);
        if (!isAccount) return printedKey(await keys.get(id), context, id);
        return { value: { account, ...restrictions }, text: describeAccount(account, restrictions) };
      };
    },
  },
  jobs: {
    help: 'jobs ACCOUNT              lists the last 100 jobs of an account, with the state of their webhooks',
    words: 1,
    read: (args) => {
      const wanted = args.account();
      return async (context) => {
        const account = await accountIn(context, wanted);
        const jobs = await context.jobs.list(account, { limit: 100 });
        const value = jobs.map(({ call, ...job }) => ({ ...job, tool: call.request.tool }));
        return { value, text: jobTable(jobs) };
      };
    },
  },
  webhook: {
    help: `webhook ACCOUNT [--rotate] prints the secret that signs an account's webhooks; --rotate replaces it, and for a day both
                          secrets sign`,
    takes: ['rotate'],
    words: 1,
    read: (args) => {
      const wanted = args.account();
      const { rotate = false } = args.values;
      return async (context) => {
        const account = await accountIn(context, wanted);
        const { operations, webhookSecrets, accounts, jobs } = context;
        // The account of API_KEY is not in the table.
        const isKnown = (await accounts.get(account)) ?? (await jobs.list(account, { limit: 1 }))[0];
        if (!isKnown) throw noAccountError(account);
        await operations.logSecret(account, rotate);
        if (rotate) await webhookSecrets.rotate(account);
        const secrets = await webhookSecrets.get(account);
        return { value: { account, secrets }, text: `${secrets[0]}\n` };
      };
    },
  },
  buckets: {
    help: `buckets ACCOUNT [s3://BUCKET/PREFIX/ read|write|both|none]
                          allows an account to read sources from, or write results to, a prefix in a bucket; lists all of its
                          prefixes`,
    words: 3,
    read: (args) => {
      const wanted = args.account();
      const [, url, word = ''] = args.words;
      const access = ACCESS.find((each) => each === word);
      if (url !== undefined && !(isPrefix(url) && (access || word === 'none')))
        throw new UsageError('A prefix must be s3://BUCKET/PREFIX/, followed by read, write, both or none.');
      return async (context) => {
        const { operations, accounts, prefixes } = context;
        const account = await accountIn(context, wanted);
        if (!(await accounts.get(account))) throw noAccountError(account);
        if (url !== undefined) {
          await operations.logBucket(account, `${url}=${word}`);
          await prefixes.set(account, url, access);
        }
        const buckets = await prefixes.of(account);
        return { value: { account, buckets }, text: bucketRows(buckets) || `No buckets.\n` };
      };
    },
  },
  usage: {
    help: `usage [ID|ACCOUNT] [--month 2026-11] [--csv]
                          shows usage of an account, or of the key's account, or of all accounts`,
    takes: ['month', 'csv'],
    words: 1,
    read: (args) => {
      const wanted = args.words.length === 0 ? undefined : args.keyOrAccount();
      const { month = monthOf(), csv } = args.values;
      if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
        throw new UsageError(`--month must have the form 2026-11, got '${month}'.`);
      return async (context) => {
        const { keys, usage, priceRows } = context;
        const record = wanted && !wanted.isAccount ? await keys.get(wanted.id) : undefined;
        if (wanted && !wanted.isAccount && !record) throw noKeyError(wanted.id);
        const account = wanted?.isAccount ? await accountIn(context, wanted.id) : record?.account;
        const unpriced = await usage.month(month, account);
        const priced: readonly ReportedRow[] = priceRows?.(unpriced) ?? unpriced;
        const rows = await withEmails(priced, ({ account: owner }) => owner, context);
        const total = sumRows(rows);
        const text = csv
          ? usageCsv(rows)
          : usageTable(rows, { ...total, account: 'total', day: month, tool: '' });
        return { value: { month, total, days: rows }, text };
      };
    },
  },
};

export const HELP = `npm run keys -- COMMAND [--json] [--table NAME [--region REGION]]

${Object.values(COMMANDS)
  .flatMap(({ help }) => (help === '' ? [] : help.split('\n')))
  .map((line) => `  ${line}\n`)
  .join('')}
An ACCOUNT is its ID or its email address. Durations are a number and s, m, h or d.
--table selects a DynamoDB table instead of the database in DATA_DIR.
`;

/** A command that was read from the command line. */
export interface Command {
  readonly table: string | undefined;
  readonly region: string | undefined;
  /** Whether the command may create the database. */
  readonly creates: boolean;
  /** Runs the command and returns its output. @throws Error if there is no such key or account. */
  run(stores: Stores): Promise<string>;
}

/**
 * Reads the command line. Returns `undefined` for the help.
 * @throws UsageError that names the argument and the rule
 */
export function readCommand(
  words: readonly string[],
  toolNames: readonly string[],
  now = Date.now(),
): Command | undefined {
  const args = new Arguments(words, toolNames, now);
  const { help, json, table, region, csv } = args.values;
  const definition = Object.hasOwn(COMMANDS, args.command) ? COMMANDS[args.command]! : undefined;
  if (!definition && args.command !== 'help') throw new UsageError(`Unknown command '${args.command}'.`);
  if (help || !definition) return undefined;
  args.check(definition.takes ?? [], definition.words ?? 0);
  const run = definition.read(args);
  return {
    table,
    region,
    creates: definition.creates ?? false,
    async run(stores) {
      const by = { actor: userName(), from: 'command line' };
      const operations = createOperations({ ...stores, members: new Members(stores) }, by);
      const { value, text } = await run({ ...stores, operations });
      return json && !csv ? `${JSON.stringify(value, null, 2)}\n` : text;
    },
  };
}

/** Reads the commands that disable or enable a key or an account. */
function readSwitch(ofKey: 'disableKey' | 'enableKey', ofAccount: 'disableAccount' | 'enableAccount') {
  return (args: Arguments) => {
    const { id: wanted, isAccount } = args.keyOrAccount();
    return async (context: Context): Promise<Printed> => {
      const { operations } = context;
      if (!isAccount) return printedKey(await operations[ofKey](wanted), context, wanted);
      const id = await accountIn(context, wanted);
      if (!(await operations[ofAccount](id))) throw noAccountError(id);
      const value = { account: id, disabled: args.command === 'disable' };
      return { value, text: `${id} is ${args.command}d.\n` };
    };
  };
}

async function printedKey(record: KeyRecord | undefined, { accounts }: Context, id = ''): Promise<Printed> {
  if (!record) throw noKeyError(id);
  const { email } = (await accounts.get(record.account)) ?? {};
  return { value: { ...record, ...(email && { email }) }, text: describeKey(record, email) };
}

async function printedNew(
  { apiKey, record }: { apiKey: string; record: KeyRecord },
  context: Context,
): Promise<Printed> {
  const { value, text } = await printedKey(record, context);
  return {
    value: { ...(value as object), apiKey },
    text: `${text}\nAPI key, shown only once: ${apiKey}\n`,
  };
}

/** Returns the name of this machine's user, who may have none in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

interface Link {
  readonly id: string;
  readonly url: URL;
  /** Epoch seconds. */
  readonly expires: number;
}

/** Signs a URL, after checking its query in the same way as the service. */
async function signUrl({ id, url, expires }: Link, keys: Keys): Promise<string> {
  const signer = await keys.findSigner(id);
  if (!signer) throw new Error(`There is no valid signing key ${id}. Create one with --signing.`);
  const all = Object.values(tools);
  const parameters = [...url.searchParams].map(([name, value]) => ({ name, value }));
  const refused = parameters.find(({ name }) => ['apikey', ...LINK_PARAMETERS].includes(name));
  if (refused) throw new Error(`Leave out the parameter '${refused.name}': everyone can read a signed link.`);
  const query: Parameter[] = withWholeInfile(parameters, all);
  const read = await withSamples(query, { tools: all, sampleUrl: (name) => `https://example.com/${name}` });
  readRequest(read, all, { unordered: query.length, canUpload: true });
  return `${url.origin}${url.pathname}?${signQuery(query, { id, secret: signer.secret, expires })}`;
}

/** Returns a new key with the ID of the account that it names, which must exist. */
async function withAccount(key: NewKey, context: Context): Promise<NewKey> {
  if (key.account === undefined) return key;
  const hint = ' A person has one after using an invitation. Leave out --account to create another.';
  const account = await accountIn(context, key.account, hint);
  if (!(await context.accounts.get(account))) throw noAccountError(account, hint);
  return { ...key, account };
}

/** Returns the ID of an account that is named by its ID or its email address. */
async function accountIn({ accounts }: Context, wanted: string, hint?: string): Promise<string> {
  if (!isEmail(wanted)) return wanted;
  const email = readEmail(wanted);
  const found = (await accounts.search(email!, 0, Infinity)).accounts.find((each) => each.email === email);
  if (!found) throw noAccountError(wanted, hint);
  return found.id;
}

/** Adds the email address of the account that each row belongs to, if it has one. */
async function withEmails<Row>(
  rows: readonly Row[],
  ownerOf: (row: Row) => string,
  { accounts }: Context,
): Promise<Array<Row & { readonly email?: string }>> {
  const all = (await accounts.search('', 0, Infinity)).accounts;
  const emails = new Map(all.map(({ id, email }) => [id, email]));
  return rows.map((row) => {
    const email = emails.get(ownerOf(row));
    return { ...row, ...(email !== undefined && { email }) };
  });
}

function noKeyError(id: string): Error {
  return new Error(`There is no key ${id}.`);
}

function noAccountError(account: string, hint = ''): Error {
  return new Error(`There is no account ${account}.${hint}`);
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
