import { userInfo } from 'node:os';
import type { AccountTable } from '../../functions/platform/accounts.ts';
import type { AuditLog } from '../../functions/platform/audit.ts';
import { keyIdOf } from '../../functions/platform/keys/api-key.ts';
import type { KeyRecord, Keys, NewKey } from '../../functions/platform/keys/keys.ts';
import type { Records } from '../../functions/platform/records.ts';
import {
  type PriceRows,
  type ReportedRow,
  sumRows,
  usageCsv,
} from '../../functions/platform/usage/report.ts';
import type { Usage } from '../../functions/platform/usage/usage.ts';
import { LINK_PARAMETERS, signQuery } from '../../functions/router/admission/signature.ts';
import { readRequest, withWholeInfile } from '../../functions/router/request.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { Members } from '../../functions/site/accounts/members.ts';
import { createOperations } from '../../functions/site/operator/operations.ts';
import * as tools from '../../functions/tools.ts';
import type { Command } from './command.ts';
import { auditTable, columns, describeAccount, describeKey, keyTable } from './print.ts';

export interface Stores {
  readonly keys: Keys;
  readonly usage: Usage;
  readonly records: Records;
  readonly accounts: AccountTable;
  readonly audit: AuditLog;
  /** Origin of the site. */
  readonly origin: string;
  /** Absent on one machine, where nothing is billed. */
  readonly priceRows?: PriceRows | undefined;
}

/** Runs a command and returns its output. @throws Error if there is no such key. */
export async function runCommand(command: Command, stores: Stores): Promise<string> {
  const { keys, accounts, audit } = stores;
  const by = { actor: userName(), from: 'command line' };
  const operations = createOperations({ ...stores, members: new Members(stores) }, by);
  const print = (value: unknown, text: string) =>
    command.json ? `${JSON.stringify(value, null, 2)}\n` : text;
  const printKey = (record: KeyRecord | undefined) => {
    if (!record)
      throw new Error('id' in command ? `There is no key ${command.id}.` : 'There is no such key.');
    return print(record, describeKey(record));
  };
  const printNew = ({ apiKey, record }: { apiKey: string; record: KeyRecord }) =>
    print({ ...record, apiKey }, `${describeKey(record)}\nAPI key, shown only once: ${apiKey}\n`);

  switch (command.name) {
    case 'help':
      return '';
    case 'create':
      await checkAccount(command.key, stores);
      return printNew(await operations.createKey(command.key));
    case 'import': {
      await checkAccount(command.key, stores);
      const record = await operations.importKey(command.hash, command.key);
      if (!record) throw new Error(`This key already exists: ${keyIdOf(command.hash)}.`);
      return printKey(record);
    }
    case 'invite': {
      const { email, isOperator } = command;
      const token =
        isOperator || email === undefined
          ? await operations.inviteOperator(email)
          : await operations.invite(email);
      const url = `${stores.origin}/account/sign-in?token=${token}`;
      return print({ email, url }, `${url}\n`);
    }
    case 'list': {
      const all = await keys.list();
      return print(all, keyTable(all));
    }
    case 'show':
      return printKey(await keys.get(command.id));
    case 'rotate': {
      const created = await operations.rotateKey(command.id, command.overlap);
      if (!created) throw new Error(`There is no valid key ${command.id}. Create a new one.`);
      return printNew(created);
    }
    case 'audit': {
      const entries = await audit.read();
      return print(entries, auditTable(entries));
    }
    case 'disable':
    case 'enable': {
      const disabled = command.name === 'disable';
      if ('id' in command)
        return printKey(await (disabled ? operations.disableKey : operations.enableKey)(command.id));
      const { account } = command;
      if (!(await (disabled ? operations.disableAccount : operations.enableAccount)(account)))
        throw noAccountError(account);
      return print({ account, disabled }, `${account} is ${command.name}d.\n`);
    }
    case 'revoke':
      if (!(await operations.revokeKey(command.id))) throw new Error(`There is no key ${command.id}.`);
      return print({ id: command.id, revoked: true }, `${command.id} is revoked.\n`);
    case 'sign': {
      await operations.logSigned(command.id);
      const url = await signUrl(command, keys);
      return print({ url, expires: new Date(1000 * command.expires).toISOString() }, `${url}\n`);
    }
    case 'limits': {
      const account = 'account' in command ? command.account : (await keys.get(command.id))?.account;
      if (account === undefined) return printKey(undefined);
      if (!(await accounts.get(account))) throw noAccountError(account);
      const restrictions = await operations.restrict(
        account,
        command,
        'id' in command ? command.id : account,
      );
      if ('id' in command) return printKey(await keys.get(command.id));
      return print({ account, ...restrictions }, describeAccount(account, restrictions));
    }
    case 'usage':
      return printUsage(command, stores);
    default:
      return command satisfies never;
  }
}

/** Returns the name of this machine's user, who may have none in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

/** Signs a URL, after checking its query in the same way as the service. */
async function signUrl(
  { id, url, expires }: Extract<Command, { name: 'sign' }>,
  keys: Keys,
): Promise<string> {
  const signer = await keys.findSigner(id);
  if (!signer) throw new Error(`There is no valid signing key ${id}. Create one with --signing.`);
  const all = Object.values(tools);
  const parameters = [...url.searchParams].map(([name, value]) => ({ name, value }));
  const refused = parameters.find(({ name }) => ['apikey', ...LINK_PARAMETERS].includes(name));
  if (refused) throw new Error(`Leave out the parameter '${refused.name}': everyone can read a signed link.`);
  const query: Parameter[] = withWholeInfile(parameters, all);
  readRequest(query, all, { unordered: query.length, canUpload: true });
  return `${url.origin}${url.pathname}?${signQuery(query, { id, secret: signer.secret, expires })}`;
}

async function checkAccount({ account }: NewKey, { accounts }: Stores): Promise<void> {
  if (account !== undefined && !(await accounts.get(account)))
    throw noAccountError(account, ' Leave out --account to create one.');
}

function noAccountError(account: string, hint = ''): Error {
  return new Error(`There is no account ${account}.${hint}`);
}

async function printUsage(
  { id, month, csv, json }: Extract<Command, { name: 'usage' }>,
  { keys, usage, priceRows }: Stores,
): Promise<string> {
  const record = id === undefined ? undefined : await keys.get(id);
  if (id !== undefined && !record) throw new Error(`There is no key ${id}.`);
  const unpriced = await usage.month(month, record?.account);
  const rows = priceRows?.(unpriced) ?? unpriced;
  if (csv) return usageCsv(rows);
  const total = sumRows(rows);
  if (json) return `${JSON.stringify({ month, total, days: rows }, null, 2)}\n`;
  return usageTable(rows, { ...total, account: 'total', day: month, tool: '' });
}

function usageTable(rows: readonly ReportedRow[], total: ReportedRow): string {
  const head = [
    'account',
    'day',
    'tool',
    'conversions',
    'failed',
    'cached',
    'source MB',
    'result MB',
    'pages',
    'tool s',
    ...(total.estimatedDollars === undefined ? [] : ['cold starts', '$']),
  ];
  const cells = (row: ReportedRow) => [
    row.account,
    row.day,
    row.tool,
    String(row.conversions),
    String(Object.values(row.failures).reduce((sum, count) => sum + count, 0)),
    String(row.cached),
    ...[row.sourceBytes / 1e6, row.resultBytes / 1e6].map((megabytes) => megabytes.toFixed(1)),
    String(row.pages),
    (row.milliseconds / 1000).toFixed(1),
    ...(row.estimatedDollars === undefined ? [] : [String(row.coldStarts), row.estimatedDollars.toFixed(4)]),
  ];
  return columns([head, ...[...rows, total].map(cells)], (column) => column > 2);
}
