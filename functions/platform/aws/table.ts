import { setTimeout } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

/** The table of the keys, in which all other stores keep their items too. */
export interface TableLocation {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** Replaces the placeholders in expressions: `#name` by the name of an attribute, `:name` by a value. */
interface Placeholders {
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Item;
}

export interface Update extends Placeholders {
  /** An update expression, such as `SET #name = :name`. */
  readonly expression: string;
  /** The condition without which nothing is changed. */
  readonly when?: string;
}

/** Maximum number of items that DynamoDB returns in one batch. */
const BATCH = 100;
/** Delay in milliseconds before the items that DynamoDB left out of a batch are requested again. */
const [FIRST_PAUSE, MAX_PAUSE] = [50, 2000];

/** Reads and writes the items of a table whose partition key is `id`. */
export function openTable({ client, table }: TableLocation) {
  const at = (id: string) => ({ TableName: table, Key: { id: { S: id } } });

  async function readBatch(batch: readonly string[], consistent: boolean): Promise<Item[]> {
    let keys: Item[] | undefined = batch.map((id) => ({ id: { S: id } }));
    const items: Item[] = [];
    for (let pause = FIRST_PAUSE; keys && keys.length > 0; pause = Math.min(MAX_PAUSE, 2 * pause)) {
      const request: BatchGetItemCommand = new BatchGetItemCommand({
        RequestItems: { [table]: { Keys: keys, ConsistentRead: consistent } },
      });
      const { Responses, UnprocessedKeys } = await client.send(request);
      items.push(...(Responses?.[table] ?? []));
      keys = UnprocessedKeys?.[table]?.Keys;
      // DynamoDB was too busy for these. The SDK retries only whole requests.
      if (keys && keys.length > 0) await setTimeout(pause);
    }
    return items;
  }

  return {
    /** Returns an item as all earlier writes have left it. */
    async get(id: string): Promise<Item | undefined> {
      const read = new GetItemCommand({ ...at(id), ConsistentRead: true });
      return (await client.send(read)).Item;
    },

    /** Returns the items that have the given IDs, in no particular order. Missing ones are left out. */
    async getAll(ids: readonly string[], { consistent = false } = {}): Promise<Item[]> {
      const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) =>
        ids.slice(BATCH * index, BATCH * (index + 1)),
      );
      return (await Promise.all(batches.map((batch) => readBatch(batch, consistent)))).flat();
    },

    /** Yields the items that match a filter. */
    async *scan(
      filter: string,
      { consistent = false, ...placeholders }: Placeholders & { readonly consistent?: boolean },
    ): AsyncGenerator<Item> {
      const request = { TableName: table, FilterExpression: filter, ConsistentRead: consistent };
      const pages = paginateScan({ client }, { ...request, ...replacing(placeholders) });
      for await (const { Items: items = [] } of pages) yield* items;
    },

    /** Writes a whole item if a condition holds, and returns whether it did. */
    async put(item: Item, condition?: Placeholders & { readonly when: string }): Promise<boolean> {
      const conditional = condition && { ConditionExpression: condition.when, ...replacing(condition) };
      const write = new PutItemCommand({ TableName: table, Item: item, ...conditional });
      return (await ifConditionHolds(client.send(write))) !== undefined;
    },

    /** Changes an item, which exists afterwards, and returns it, or `undefined` if its condition does not hold. */
    async update(id: string, { expression, when, ...placeholders }: Update): Promise<Item | undefined> {
      const write = new UpdateItemCommand({
        ...at(id),
        UpdateExpression: expression,
        ...(when !== undefined && { ConditionExpression: when }),
        ...replacing(placeholders),
        ReturnValues: 'ALL_NEW',
      });
      const done = await ifConditionHolds(client.send(write));
      return done && (done.Attributes ?? {});
    },

    /** Deletes an item and returns it. */
    async remove(id: string): Promise<Item | undefined> {
      const { Attributes } = await client.send(new DeleteItemCommand({ ...at(id), ReturnValues: 'ALL_OLD' }));
      return Attributes;
    },
  };
}

/** Returns the update that sets some attributes and removes others. */
export function assign(values: Item, removed: readonly string[] = []): Update {
  const names = Object.keys(values);
  const sets = names.map((name) => `#${name} = :${name}`).join(', ');
  const removes = removed.map((name) => `#${name}`).join(', ');
  return {
    expression: [sets && `SET ${sets}`, removes && `REMOVE ${removes}`].filter(Boolean).join(' '),
    names: Object.fromEntries([...names, ...removed].map((name) => [`#${name}`, name])),
    values: Object.fromEntries(names.map((name) => [`:${name}`, values[name]!])),
  };
}

/** Returns the placeholders of a request. DynamoDB rejects empty ones. */
function replacing({ names, values }: Placeholders) {
  return {
    ...(names && { ExpressionAttributeNames: names }),
    ...(values && Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

/** Returns the reply to a write, or `undefined` if its condition does not hold. */
async function ifConditionHolds<Reply>(write: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await write;
  } catch (thrown) {
    if (thrown instanceof ConditionalCheckFailedException) return undefined;
    throw thrown;
  }
}
