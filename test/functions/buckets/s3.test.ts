import { tmpdir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { createLocalClient } from '../../../functions/buckets/s3.ts';
import { freePort } from '../../helpers/free-port.ts';

it('survives a result that cannot be read', async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${await freePort()}`);
  const client = createLocalClient(async () => tmpdir());
  const place = { bucket: 'files', key: 'a.png' };

  const written = client.put(
    [{ objectKey: 'a.png', url: '', contentType: 'image/png', place }],
    AbortSignal.timeout(200),
  );

  await expect(written).rejects.toThrow();
});
