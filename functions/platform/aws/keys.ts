import { randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createApiKey, hashApiKey, isWellFormed, keyIdOf } from '../keys/api-key.ts';
import { isValid, type KeyRecord, type Keys, today, withoutAbsent } from '../keys/keys.ts';

type Item = Record<string, AttributeValue>;

/**
 * Keeps keys in a DynamoDB table whose partition key `id` is the key's id. `expires` is in epoch seconds, because it is
 * the table's time-to-live attribute. Keys of earlier versions, stored under the start of their hash, stay valid.
 */
export function createDynamoKeys({ client, table }: { client: DynamoDBClient; table: string }): Keys {
  const at = (id: string) => ({ TableName: table, Key: { id: { S: id } } });
  const readItem = async (id: string): Promise<Item | undefined> =>
    (await client.send(new GetItemCommand({ ...at(id), ConsistentRead: true }))).Item;

  async function list(): Promise<Item[]> {
    const items: Item[] = [];
    const filter = {
      FilterExpression: 'attribute_exists(#hash)',
      ExpressionAttributeNames: { '#hash': 'hash' },
    };
    for await (const page of paginateScan(
      { client },
      { TableName: table, ConsistentRead: true, ...filter },
    )) {
      items.push(...(page.Items ?? []));
    }
    return items;
  }

  /** Finds an item by the ID that operators see. Items of earlier versions are stored under a different ID. */
  async function itemOf(id: string): Promise<Item | undefined> {
    return (await readItem(id)) ?? (await list()).find((item) => recordOf(item).id === id);
  }

  async function update(stored: string, expression: string, names: Record<string, string>, values: Item) {
    try {
      const { Attributes } = await client.send(
        new UpdateItemCommand({
          ...at(stored),
          UpdateExpression: expression,
          ConditionExpression: 'attribute_exists(id)',
          ExpressionAttributeNames: names,
          ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && recordOf(Attributes);
    } catch (thrown) {
      if (thrown instanceof ConditionalCheckFailedException) return undefined;
      throw thrown;
    }
  }

  return {
    async find(apiKey) {
      if (!isWellFormed(apiKey)) return undefined;
      const hash = hashApiKey(apiKey);
      const item = (await readItem(keyIdOf(hash))) ?? (await readItem(hash.slice(0, 16)));
      if (!item?.hash?.S || !sameText(item.hash.S, hash)) return undefined;
      const record = recordOf(item);
      // DynamoDB deletes expired items within days, not at once.
      if (!isValid(record)) return undefined;
      if (record.lastUsed !== today()) {
        await update(item.id!.S!, 'SET #used = :day', { '#used': 'lastUsed' }, { ':day': { S: today() } });
      }
      return record;
    },

    async create({ name, account = randomUUID(), expires, tools, limits = {} }) {
      const apiKey = createApiKey();
      const hash = hashApiKey(apiKey);
      const item: Item = {
        id: { S: keyIdOf(hash) },
        hash: { S: hash },
        account: { S: account },
        name: { S: name },
        created: { S: new Date().toISOString() },
        disabled: { BOOL: false },
        limits: { S: JSON.stringify(limits) },
        ...(expires !== undefined && { expires: secondsOf(expires) }),
        ...(tools && { tools: { S: tools.join(',') } }),
      };
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: item,
          ConditionExpression: 'attribute_not_exists(id)',
        }),
      );
      return { apiKey, record: recordOf(item) };
    },

    async list() {
      const records = (await list()).map(recordOf);
      return records.sort((a, b) => a.created - b.created || a.id.localeCompare(b.id));
    },

    async get(id) {
      const item = await itemOf(id);
      return item && recordOf(item);
    },

    async update(id, changes) {
      const item = await itemOf(id);
      if (!item) return undefined;
      const { disabled, limits } = changes;
      const sets: Item = withoutAbsent({
        disabled: disabled === undefined ? undefined : { BOOL: disabled },
        limits: limits && { S: JSON.stringify(limits) },
        expires: changes.expires === undefined ? undefined : secondsOf(changes.expires),
      });
      const removesExpiry = 'expires' in changes && changes.expires === undefined;
      const names = Object.keys(sets);
      const expression = [
        ...(names.length > 0 ? [`SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`] : []),
        ...(removesExpiry ? ['REMOVE #expires'] : []),
      ].join(' ');
      return update(
        item.id!.S!,
        expression,
        Object.fromEntries(
          [...names, ...(removesExpiry ? ['expires'] : [])].map((name) => [`#${name}`, name]),
        ),
        Object.fromEntries(names.map((name) => [`:${name}`, sets[name]!])),
      );
    },

    async revoke(id) {
      const item = await itemOf(id);
      if (!item) return false;
      await client.send(new DeleteItemCommand(at(item.id!.S!)));
      return true;
    },
  };
}

function secondsOf(milliseconds: number): AttributeValue {
  // Rounded up, so that a key that expires within this second does not expire too early.
  return { N: String(Math.ceil(milliseconds / 1000)) };
}

function recordOf(item: Item): KeyRecord {
  return withoutAbsent({
    id: keyIdOf(item.hash!.S!),
    account: (item.account ?? item.tenant)!.S!,
    name: item.name?.S ?? 'imported',
    created: Date.parse(item.created?.S ?? ''),
    lastUsed: item.lastUsed?.S,
    expires: item.expires?.N === undefined ? undefined : 1000 * Number(item.expires.N),
    disabled: item.disabled?.BOOL ?? false,
    tools: item.tools?.S?.split(','),
    limits: JSON.parse(item.limits?.S ?? '{}') as KeyRecord['limits'],
  }) as KeyRecord;
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
