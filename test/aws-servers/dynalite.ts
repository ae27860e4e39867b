import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Starts a DynamoDB with one empty key table, in a thread of its own: its clients must not wait for what else this one does. */
export async function startDynalite(table: string) {
  const server = new Worker(new URL('./dynalite-thread.ts', import.meta.url));
  const [port] = (await once(server, 'message')) as [number];
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  await client.send(
    new CreateTableCommand({
      TableName: table,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  return {
    client,
    endpoint,
    close: async () => {
      client.destroy();
      await server.terminate();
    },
  };
}
