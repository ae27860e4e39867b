import { setTimeout } from 'node:timers/promises';
import { type AttributeValue, BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

/** Maximum number of items that DynamoDB returns in one batch. */
const BATCH = 100;
/** Delay in milliseconds before the items that DynamoDB left out of a batch are requested again. */
const [FIRST_PAUSE, MAX_PAUSE] = [50, 2000];

/** Reads the items of a table that have the given IDs, in no particular order. Missing ones are left out. */
export async function readItems(
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
  { consistent = false } = {},
): Promise<Item[]> {
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) =>
    ids.slice(BATCH * index, BATCH * (index + 1)),
  );
  const read = async (batch: readonly string[]) => {
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
  };
  return (await Promise.all(batches.map(read))).flat();
}
