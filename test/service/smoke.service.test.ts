import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Check, checkService } from '../../infra/aws/smoke/checks.ts';
import { BANDS } from '../fixtures/page.ts';
import { useService } from './server/use-service.ts';

const used = useService(async () => ({
  'page.html': BANDS,
  'text.docx': await readFile(join(import.meta.dirname, '../fixtures/office/text.docx')),
}));

it('passes every check that an operator runs after a deployment', async () => {
  const { service, sources } = used();

  const tried = checkService({
    base: service.base,
    apiKey: service.apiKey,
    page: sources.urlOf('page.html'),
    document: sources.urlOf('text.docx'),
  });
  const checks: Check[] = [];
  for await (const check of tried) checks.push(check);

  expect(checks.length).toBeGreaterThanOrEqual(10);
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
});
