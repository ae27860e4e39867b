import { AUDIT_PAGE, type AuditEntry, type AuditLog } from '../audit.ts';
import { type Item, openTable, type TableLocation } from './table.ts';

/** ID of the item that counts the entries. */
const COUNTER = 'audit';
const idOf = (number: number) => `audit#${number}`;

/** Keeps the audit log in the table of the keys. Entries are numbered, so the newest can be read without an index. */
export function createDynamoAudit(location: TableLocation): AuditLog {
  const table = openTable(location);
  return {
    async append({ actor, action, subject, details, from }) {
      const counter = await table.update(COUNTER, {
        expression: 'ADD entries :one',
        values: { ':one': { N: '1' } },
      });
      const texts = Object.entries({ actor, action, subject, details, from });
      const id = idOf(Number(counter!.entries!.N));
      const entry = {
        id: { S: id },
        time: { N: String(Date.now()) },
        ...Object.fromEntries(texts.map(([name, value]) => [name, { S: value }])),
      };
      const isNew = await table.put(entry, { when: 'attribute_not_exists(id)' });
      if (!isNew) throw new Error(`The log already has the entry ${id}.`);
    },
    async read(before) {
      const last = before === undefined ? Number((await table.get(COUNTER))?.entries?.N ?? 0) : before - 1;
      const ids = Array.from({ length: Math.min(AUDIT_PAGE, last) }, (_, index) => idOf(last - index));
      const items = await table.getAll(ids, { consistent: true });
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
