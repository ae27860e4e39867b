import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createReceiver } from '../../../../../../functions/platform/aws/lambda/direct/upload.ts';
import { createEgressGuard } from '../../../../../../functions/shared/egress/guard.ts';
import { MAX_INLINE_BYTES } from '../../../../../../functions/shared/settings/aws.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'receiver-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('reads files into the response as long as they fit into it together', async () => {
  const { outputs, receive } = createReceiver(undefined, createEgressGuard(), 'account');
  const path = join(directory, 'a.png');
  writeFileSync(path, 'content');
  const file = { path, name: 'a.png', contentType: 'image/png', bytes: MAX_INLINE_BYTES - 10 };
  const { signal } = new AbortController();

  await receive(file, signal);
  await receive({ ...file, bytes: 10 }, signal);

  expect(outputs.map(({ base64 }) => base64)).toEqual(['Y29udGVudA==', 'Y29udGVudA==']);
  await expect(receive({ ...file, bytes: 1 }, signal)).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
});
