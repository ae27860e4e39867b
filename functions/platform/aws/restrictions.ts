import { parseRestrictions, type Restrictions, restrictionsOf, together } from '../keys/restrictions.ts';
import type { Item, openTable } from './table.ts';

/** Returns the restrictions that the item of a key contains, without those of its account. */
export function ownRestrictions({ limits, tools, expires }: Item): Restrictions {
  return restrictionsOf({
    limits: JSON.parse(limits?.S ?? '{}') as Restrictions['limits'],
    ...(tools?.S !== undefined && { tools: tools.S.split(',') }),
    ...(expires?.N !== undefined && { expires: 1000 * Number(expires.N) }),
  });
}

/** Returns the restrictions of an account. In earlier versions only its keys had some. */
export async function readRestrictions(
  table: ReturnType<typeof openTable>,
  account: Item,
): Promise<Restrictions> {
  if (account.restrictions?.S !== undefined) return parseRestrictions(account.restrictions.S);
  const items = await table.getAll(account.keyIds?.SS ?? [], { consistent: true });
  items.sort((a, b) => (a.created?.S ?? '').localeCompare(b.created?.S ?? ''));
  return together(
    items.map((item) => ({ ...ownRestrictions(item), disabled: item.disabled?.BOOL ?? false })),
  );
}
