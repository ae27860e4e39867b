import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Records } from '../records/records.ts';

type Item = Record<string, AttributeValue>;

/**
 * Keeps records in the table of the keys. Its time-to-live attribute is in seconds, and expired items are deleted
 * within days.
 */
export function createDynamoRecords({ client, table }: { client: DynamoDBClient; table: string }): Records {
  const idOf = (name: string) => ({ id: { S: `site#${name}` } });
  const textOf = (item: Item | undefined) => {
    const end = Number(item?.ends?.N ?? Number.POSITIVE_INFINITY);
    return end > Date.now() ? item?.content?.S : undefined;
  };
  return {
    async add(name, text, expires) {
      const ends = expires !== undefined && {
        ends: { N: String(expires) },
        expires: { N: String(Math.ceil(expires / 1000)) },
      };
      try {
        await client.send(
          new PutItemCommand({
            TableName: table,
            Item: { ...idOf(name), content: { S: text }, ...ends },
            ConditionExpression: 'attribute_not_exists(id) OR ends <= :now',
            ExpressionAttributeValues: { ':now': { N: String(Date.now()) } },
          }),
        );
        return true;
      } catch (thrown) {
        if (thrown instanceof ConditionalCheckFailedException) return false;
        throw thrown;
      }
    },
    async set(name, text) {
      await client.send(
        new PutItemCommand({ TableName: table, Item: { ...idOf(name), content: { S: text } } }),
      );
    },
    async get(name) {
      const { Item: item } = await client.send(
        new GetItemCommand({ TableName: table, Key: idOf(name), ConsistentRead: true }),
      );
      return textOf(item);
    },
    async take(name) {
      const { Attributes } = await client.send(
        new DeleteItemCommand({ TableName: table, Key: idOf(name), ReturnValues: 'ALL_OLD' }),
      );
      return textOf(Attributes);
    },
  };
}
