import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Account, AccountTable } from '../accounts/accounts.ts';
import { withoutAbsent } from '../keys/keys.ts';

type Item = Record<string, AttributeValue>;

const PREFIX = 'account#';

/** Returns the ID of an account's item, which also lists the IDs of its keys. */
export function accountItem(account: string): string {
  return PREFIX + account;
}

/**
 * Keeps accounts in the table of the keys. Disabling an account marks each of its keys, so that finding a key reads
 * only one item. A key that is being added reads the account's item afterwards; see `createDynamoKeys`. Disabling is
 * rare, so it may scan the table.
 */
export function createDynamoAccounts({
  client,
  table,
}: {
  client: DynamoDBClient;
  table: string;
}): AccountTable {
  const at = (id: string) => ({ TableName: table, Key: { id: { S: id } } });

  async function set(id: string, values: Item, condition: string): Promise<void> {
    const names = Object.keys(values);
    try {
      await client.send(
        new UpdateItemCommand({
          ...at(id),
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          ConditionExpression: `attribute_exists(${condition})`,
          ExpressionAttributeNames: {
            ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
            ...(condition === '#hash' && { '#hash': 'hash' }),
          },
          ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, values[name]!])),
        }),
      );
    } catch (thrown) {
      if (!(thrown instanceof ConditionalCheckFailedException)) throw thrown;
    }
  }

  /** Marks all keys of an account, including those from earlier versions, which its item does not list. */
  async function markKeys(account: string, disabled: boolean): Promise<void> {
    const filter = {
      FilterExpression: 'attribute_exists(#hash) AND account = :account',
      ExpressionAttributeNames: { '#hash': 'hash' },
      ExpressionAttributeValues: { ':account': { S: account } },
    };
    const pages = paginateScan({ client }, { TableName: table, ConsistentRead: true, ...filter });
    for await (const { Items: items = [] } of pages)
      for (const { id } of items) await set(id!.S!, { accountDisabled: { BOOL: disabled } }, '#hash');
  }

  return {
    async add(id, email) {
      await client.send(
        new UpdateItemCommand({
          ...at(accountItem(id)),
          UpdateExpression: 'SET email = :email, created = if_not_exists(created, :now)',
          ExpressionAttributeValues: { ':email': { S: email }, ':now': { N: String(Date.now()) } },
        }),
      );
    },
    async get(id) {
      const { Item: item } = await client.send(
        new GetItemCommand({ ...at(accountItem(id)), ConsistentRead: true }),
      );
      return item && accountOf(item);
    },
    async update(id, { role, disabled, signedOut }) {
      const values = withoutAbsent({
        role: role && { S: role },
        disabled: disabled === undefined ? undefined : { BOOL: disabled },
        signedOut: signedOut === undefined ? undefined : { N: String(signedOut) },
      });
      // Marks before the update, so that a failure can be retried, and after it, for keys that were added meanwhile.
      if (disabled !== undefined) await markKeys(id, disabled);
      await set(accountItem(id), values, 'id');
      if (disabled !== undefined) await markKeys(id, disabled);
    },
    async remove(id) {
      await client.send(new DeleteItemCommand(at(accountItem(id))));
    },
    async search(text, offset, limit) {
      const wanted = text.toLowerCase();
      const accounts: Account[] = [];
      const found = new Set<string>();
      const holds = (...texts: ReadonlyArray<string | undefined>) =>
        texts.some((each) => each?.toLowerCase().includes(wanted));
      const filter = {
        FilterExpression: 'begins_with(id, :prefix) OR attribute_exists(#hash)',
        ExpressionAttributeNames: { '#hash': 'hash' },
        ExpressionAttributeValues: { ':prefix': { S: PREFIX } },
      };
      for await (const page of paginateScan({ client }, { TableName: table, ...filter })) {
        for (const item of page.Items ?? []) {
          if (!item.hash) accounts.push(accountOf(item));
          else if (holds(item.name?.S, item.id?.S)) found.add(item.account!.S!);
        }
      }
      const matching = accounts
        .filter(({ id, email }) => found.has(id) || holds(id, email))
        .sort((a, b) => b.created - a.created || a.id.localeCompare(b.id));
      return { accounts: matching.slice(offset, offset + limit), total: matching.length };
    },
  };
}

function accountOf(item: Item): Account {
  return withoutAbsent({
    id: item.id!.S!.slice(PREFIX.length),
    email: item.email?.S,
    created: Number(item.created?.N ?? 0),
    role: item.role?.S === 'operator' ? 'operator' : undefined,
    disabled: item.disabled?.BOOL ?? false,
    signedOut: Number(item.signedOut?.N ?? 0),
  }) as Account;
}
