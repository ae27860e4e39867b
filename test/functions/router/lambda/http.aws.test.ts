import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startRuntime } from '../../../lambda-emulator/runtime.ts';

const LAMBDA_HTTP = join(import.meta.dirname, '../../../../functions/router/lambda/http.ts');

/** Runs a router that always sends this reply in AWS's runtime client and returns what reaches the Runtime API. */
async function bytesOf(reply: { status: number; headers: Record<string, string>; body: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'router-'));
  writeFileSync(
    join(folder, 'index.mjs'),
    `import { streamReply } from ${JSON.stringify(LAMBDA_HTTP)};
    export const handler = streamReply(async () => (${JSON.stringify(reply)}), 60_000);`,
  );
  const { api, child } = await startRuntime(folder);
  try {
    const event = { httpMethod: 'GET', requestContext: { path: '/api/' } };
    const context = { id: 'event', deadline: Date.now() + 10_000, functionArn: 'arn:aws:lambda:test' };
    return await api.invoke(event, context);
  } finally {
    child.kill('SIGKILL');
    api.close();
    rmSync(folder, { recursive: true });
  }
}

it.each([
  ['a result', '[Output] https://example.com/a.pdf?x=1&y=%20<br>'],
  ['a text outside ASCII', '[ERROR] «ünï» 漢字'],
  ['an empty body', ''],
])('sends status and headers, eight zero bytes, then %s', async (_, body) => {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Page-Count': '3' };

  const sent = await bytesOf({ status: 201, headers, body });

  expect(sent.kind).toBe('stream');
  expect(sent.contentType).toBe('application/vnd.awslambda.http-integration-response');
  const end = sent.body.indexOf(Buffer.alloc(8));
  expect(JSON.parse(sent.body.toString('utf8', 0, end))).toEqual({ statusCode: 201, headers });
  expect(sent.body.toString('utf8', end + 8)).toBe(body);
});
