import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const { prepareCheckout } = await import(join(import.meta.dirname, '../../../infra/local/checkout.mjs'));

let parent: string;
let checkout: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'a checkout-'));
  checkout = join(parent, 'checkout');
  for (const name of ['functions', 'infra', 'layers']) {
    mkdirSync(join(checkout, name), { recursive: true });
    writeFileSync(join(checkout, name, 'a.ts'), name);
  }
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    writeFileSync(join(checkout, name), name);
});
afterEach(() => rmSync(parent, { recursive: true }));

it('uses the checkout itself unless BUILD_DIR names another directory', () => {
  expect(prepareCheckout(checkout, undefined)).toBe(checkout);
  expect(prepareCheckout(checkout, '')).toBe(checkout);
  expect(prepareCheckout(checkout, checkout)).toBe(checkout);
});

it('copies the sources into BUILD_DIR, and replaces those of an earlier version but nothing else', () => {
  const into = join(parent, 'build dir');
  prepareCheckout(checkout, into);
  mkdirSync(join(into, 'dist'));
  writeFileSync(join(into, 'functions/old.ts'), '');
  writeFileSync(join(checkout, 'functions/a.ts'), 'new');

  expect(prepareCheckout(checkout, into)).toBe(into);

  expect(readFileSync(join(into, 'functions/a.ts'), 'utf8')).toBe('new');
  expect(existsSync(join(into, 'functions/old.ts'))).toBe(false);
  expect(existsSync(join(into, 'dist'))).toBe(true);
});

it('says what is wrong with BUILD_DIR', () => {
  expect(() => prepareCheckout(checkout, join(checkout, '.npmrc'))).toThrow(
    /^BUILD_DIR .+\.npmrc cannot be used: /,
  );
});

it.each(['/proc/build', '/sys/a/build', '/dev/null/build'])(
  'rejects a BUILD_DIR that nobody can create: %s',
  (into) => {
    expect(() => prepareCheckout(checkout, into)).toThrow(`BUILD_DIR ${into} cannot be used: `);
  },
);

it('creates the parents of BUILD_DIR', () => {
  const into = join(parent, 'a/b/c');

  expect(prepareCheckout(checkout, into)).toBe(into);
  expect(readFileSync(join(into, 'package.json'), 'utf8')).toBe('package.json');
});

it('says to set BUILD_DIR if the checkout cannot be written', () => {
  const missing = join(parent, 'nothing');

  expect(() => prepareCheckout(missing, undefined)).toThrow(`${missing} cannot be written. Set BUILD_DIR to`);
});
