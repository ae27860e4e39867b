import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { AUDIT_PAGE, type AuditEntry, type AuditLog } from '../audit/audit.ts';
import { type Item, readItems } from './read-items.ts';

const COUNTER = { id: { S: 'audit' } };
const idOf = (number: number) => `audit#${number}`;

/** Keeps the audit log in the table of the keys. Entries are numbered, so the newest can be read without an index. */
export function createDynamoAudit({ client, table }: { client: DynamoDBClient; table: string }): AuditLog {
  return {
    async append({ actor, action, subject, details, from }) {
      const { Attributes } = await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: COUNTER,
          UpdateExpression: 'ADD entries :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      const texts = Object.entries({ actor, action, subject, details, from });
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            id: { S: idOf(Number(Attributes!.entries!.N)) },
            time: { N: String(Date.now()) },
            ...Object.fromEntries(texts.map(([name, value]) => [name, { S: value }])),
          },
          ConditionExpression: 'attribute_not_exists(id)',
        }),
      );
    },
    async read(before) {
      const counter = { TableName: table, Key: COUNTER, ConsistentRead: true };
      const last =
        before === undefined
          ? Number((await client.send(new GetItemCommand(counter))).Item?.entries?.N ?? 0)
          : before - 1;
      const ids = Array.from({ length: Math.min(AUDIT_PAGE, last) }, (_, index) => idOf(last - index));
      const items = await readItems(client, table, ids, { consistent: true });
      return items.map(entryOf).sort((a, b) => b.number - a.number);
    },
  };
}

function entryOf(item: Item): AuditEntry {
  const text = (name: string) => item[name]?.S ?? '';
  return {
    number: Number(text('id').slice('audit#'.length)),
    time: Number(item.time?.N),
    actor: text('actor'),
    action: text('action'),
    subject: text('subject'),
    details: text('details'),
    from: text('from'),
  };
}
