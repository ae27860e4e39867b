import { randomUUID, timingSafeEqual } from 'node:crypto';
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createApiKey, hashApiKey, isWellFormed } from './api-key.ts';
import type { Keys } from './keys.ts';

/** Keeps keys in a DynamoDB table: `id` (partition key) is the hash's first quarter, `hash` all of it, `expires` epoch seconds. */
export function createDynamoKeys({ client, table }: { client: DynamoDBClient; table: string }): Keys {
  return {
    async find(apiKey) {
      if (!isWellFormed(apiKey)) return undefined;
      const hash = hashApiKey(apiKey);
      const { Item: item } = await client.send(
        new GetItemCommand({ TableName: table, Key: idOf(hash), ConsistentRead: true }),
      );
      if (!item?.hash?.S || !sameText(item.hash.S, hash)) return undefined;
      // DynamoDB deletes expired items within days, not at once.
      if (item.expires?.N && Number(item.expires.N) * 1000 <= Date.now()) return undefined;
      return { tenant: item.tenant!.S! };
    },

    async create({ expires } = {}) {
      const apiKey = createApiKey();
      const hash = hashApiKey(apiKey);
      const seconds = expires === undefined ? undefined : String(Math.floor(expires / 1000));
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            ...idOf(hash),
            hash: { S: hash },
            tenant: { S: randomUUID() },
            created: { S: new Date().toISOString() },
            ...(seconds && { expires: { N: seconds } }),
          },
          ConditionExpression: 'attribute_not_exists(id)',
        }),
      );
      return apiKey;
    },

    async revoke(apiKey) {
      await client.send(new DeleteItemCommand({ TableName: table, Key: idOf(hashApiKey(apiKey)) }));
    },
  };
}

function idOf(hash: string) {
  return { id: { S: hash.slice(0, 16) } };
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
