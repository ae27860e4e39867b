import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAllowed } from '../../lambda-emulator/iam.ts';
import { CALLS, permissionTable, readRoles } from '../../readme/permissions.ts';

const GUIDE = join(import.meta.dirname, '../../../infra/aws/README.md');

it('are in the guide as the template grants them', () => {
  expect(readFileSync(GUIDE, 'utf8')).toContain(`<!-- permissions: roles -->\n\n${permissionTable()}`);
});

it('let nobody who takes over the router find or read what it does not need', () => {
  const { router } = readRoles();
  const denied = [
    'find every key, account and session',
    'email address and role of an account',
    'sessions and sign-in links',
    'audit log',
    'names of results and uploads',
    'invoke the router for any account',
    'mail server and client secret of the site',
    'log of another function',
  ];

  for (const what of denied)
    for (const call of Object.values(CALLS[what]!)) expect(isAllowed(router, call), what).toBe(false);
});

it('let the router change only the day on which a key was used', () => {
  const { router } = readRoles();

  const created = CALLS['hash, signing secret and limits of a key, by its ID']!.write!;
  expect(isAllowed(router, created)).toBe(false);
  expect(isAllowed(router, { ...created, attributes: ['id', 'created', 'lastUsed'] })).toBe(true);
  expect(isAllowed(router, { ...created, action: 'dynamodb:PutItem' })).toBe(false);
  // One item of a batch is enough for a refusal.
  const batch = { ...created, action: 'dynamodb:BatchGetItem' };
  expect(isAllowed(router, batch)).toBe(true);
  expect(isAllowed(router, { ...batch, items: [...batch.items!, 'account#a'] })).toBe(false);
});

it('let a tool do nothing but write its log', () => {
  const { pdftools } = readRoles();

  const allowed = Object.values(CALLS).flatMap((calls) => Object.values(calls));
  expect(allowed.filter((call) => isAllowed(pdftools, call))).toEqual([]);
});
