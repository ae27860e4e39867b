import { setTimeout } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Attributes, Condition, Item, Table } from '../table.ts';

type Encoded = Record<string, AttributeValue>;

/** Maximum number of items that DynamoDB returns in one batch. */
const BATCH = 100;
/** Delay in milliseconds before the items that DynamoDB left out of a batch are requested again. */
const [FIRST_PAUSE, MAX_PAUSE] = [50, 2000];

/**
 * Keeps items in a DynamoDB table whose partition key is `id`. Its time-to-live attribute `expires` is in seconds, and
 * DynamoDB deletes expired items only within days, so `ends` has the exact time.
 */
export function createDynamoTable({ client, table }: { client: DynamoDBClient; table: string }): Table {
  const at = (id: string) => ({ TableName: table, Key: { id: { S: id } } });

  async function readBatch(batch: readonly string[]): Promise<Item[]> {
    let keys: Encoded[] | undefined = batch.map((id) => ({ id: { S: id } }));
    const items: Item[] = [];
    for (let pause = FIRST_PAUSE; keys && keys.length > 0; pause = Math.min(MAX_PAUSE, 2 * pause)) {
      const request: BatchGetItemCommand = new BatchGetItemCommand({
        RequestItems: { [table]: { Keys: keys, ConsistentRead: true } },
      });
      const { Responses, UnprocessedKeys } = await client.send(request);
      items.push(...(Responses?.[table] ?? []).flatMap((item) => decode(item) ?? []));
      keys = UnprocessedKeys?.[table]?.Keys;
      // DynamoDB was too busy for these. The SDK retries only whole requests.
      if (keys && keys.length > 0) await setTimeout(pause);
    }
    return items;
  }

  return {
    async get(id) {
      return decode((await client.send(new GetItemCommand({ ...at(id), ConsistentRead: true }))).Item);
    },

    async getAll(ids) {
      const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) =>
        ids.slice(BATCH * index, BATCH * (index + 1)),
      );
      return (await Promise.all(batches.map(readBatch))).flat();
    },

    async *list(prefix) {
      const pages = paginateScan(
        { client },
        {
          TableName: table,
          ConsistentRead: true,
          FilterExpression: 'begins_with(id, :prefix)',
          ExpressionAttributeValues: { ':prefix': { S: prefix } },
        },
      );
      for await (const { Items: items = [] } of pages) yield* items.flatMap((item) => decode(item) ?? []);
    },

    async put(item, when = {}) {
      const placeholders = createPlaceholders();
      const condition = placeholders.condition(when);
      const write = new PutItemCommand({
        TableName: table,
        Item: encode(item),
        ...(condition !== '' && { ConditionExpression: condition }),
        ...placeholders.used(),
      });
      return (await ifConditionHolds(client.send(write))) !== undefined;
    },

    async update(id, { set = {}, defaults = {}, add = {}, when = {}, once = false }) {
      const placeholders = createPlaceholders();
      const { name, value } = placeholders;
      const values = Object.entries(encode(set));
      const removed = Object.keys(set).filter((attribute) => set[attribute] === undefined);
      const sets = [
        ...values.map(([attribute, encoded]) => `${name(attribute)} = ${value(encoded)}`),
        ...Object.entries(encode(defaults)).map(
          ([attribute, encoded]) =>
            `${name(attribute)} = if_not_exists(${name(attribute)}, ${value(encoded)})`,
        ),
      ];
      const adds = Object.entries(encode(add)).map(
        ([attribute, encoded]) => `${name(attribute)} ${value(encoded)}`,
      );
      const clause = (word: string, parts: readonly string[]) =>
        parts.length > 0 ? [`${word} ${parts.join(', ')}`] : [];
      const condition = placeholders.condition(when);
      const write = new UpdateItemCommand({
        ...at(id),
        // DynamoDB rejects an empty one.
        UpdateExpression:
          [...clause('SET', sets), ...clause('REMOVE', removed.map(name)), ...clause('ADD', adds)].join(
            ' ',
          ) || undefined,
        ...(condition !== '' && { ConditionExpression: condition }),
        ...placeholders.used(),
        ReturnValues: 'ALL_NEW',
      });
      if (once) doNotRepeat(write);
      return decode((await ifConditionHolds(client.send(write)))?.Attributes);
    },

    async replace(item) {
      await client.send(new PutItemCommand({ TableName: table, Item: encode(item) }));
    },

    async remove(id) {
      const { Attributes } = await client.send(new DeleteItemCommand({ ...at(id), ReturnValues: 'ALL_OLD' }));
      return decode(Attributes);
    },
  };
}

/** Replaces names of attributes and values in the expressions of one request, because many names are reserved. */
function createPlaceholders() {
  const names: Record<string, string> = {};
  const values: Encoded = {};
  const name = (attribute: string) => {
    const known = Object.keys(names).find((placeholder) => names[placeholder] === attribute);
    const placeholder = known ?? `#${Object.keys(names).length}`;
    names[placeholder] = attribute;
    return placeholder;
  };
  const value = (encoded: AttributeValue) => {
    const placeholder = `:${Object.keys(values).length}`;
    values[placeholder] = encoded;
    return placeholder;
  };
  const test = ([attribute, expected]: readonly [string, Condition[string]]) => {
    if (expected === 'present') return `attribute_exists(${name(attribute)})`;
    if (expected !== 'absent')
      return 'is' in expected
        ? `${name(attribute)} = ${value(encodeValue(expected.is))}`
        : 'below' in expected
          ? `${name(attribute)} < ${value(encodeValue(expected.below))}`
          : `${name(attribute)} > ${value(encodeValue(expected.above))}`;
    const isAbsent = `attribute_not_exists(${name(attribute)})`;
    return attribute === 'id'
      ? `(${isAbsent} OR ${name('ends')} <= ${value(encodeValue(Date.now()))})`
      : isAbsent;
  };
  return {
    name,
    value,
    condition: (when: Condition) => Object.entries(when).map(test).join(' AND '),
    /** Returns the parameters of the request. DynamoDB rejects empty ones. */
    used: () => ({
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}

function encode({ expires, ...attributes }: Attributes): Encoded {
  const ends = typeof expires === 'number' && { expires: Math.ceil(expires / 1000), ends: expires };
  return Object.fromEntries(
    Object.entries({ ...attributes, ...ends }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, encodeValue(value)]],
    ),
  );
}

function encodeValue(value: string | number | boolean): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'number' ? { N: String(value) } : { BOOL: value };
}

/** Returns `undefined` for an item that has expired. */
function decode(encoded: Encoded | undefined): Item | undefined {
  if (!encoded) return undefined;
  const { ends, ...attributes } = Object.fromEntries(
    Object.entries(encoded).map(([name, { S, N, BOOL }]) => [name, S ?? BOOL ?? Number(N)]),
  );
  if (ends !== undefined && Number(ends) <= Date.now()) return undefined;
  return { ...attributes, ...(ends !== undefined && { expires: Number(ends) }) } as Item;
}

/** Lets the SDK send a write again only if DynamoDB has refused it, for example because it is busy. */
function doNotRepeat(write: UpdateItemCommand): void {
  write.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (cause) {
        if (cause instanceof DynamoDBServiceException && Number(cause.$metadata.httpStatusCode) < 500)
          throw cause;
        // Not its `cause`, for which the SDK would retry.
        throw new Error(`A change may have been applied, so it was not sent again: ${String(cause)}`);
      }
    },
    // Runs for each attempt.
    { step: 'finalizeRequest', priority: 'low' },
  );
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
