import { expect, it } from 'vitest';
import { createS3Storage } from '../../../../functions/shared/storage/s3.ts';
import { disposition, putToS3 } from '../../../../functions/shared/storage/s3-put.ts';
import { startRadosGateway } from '../../../infra/aws/radosgw.ts';
import { describeStorage } from './contract.ts';

describeStorage('S3', async () => {
  const { client, bucket, close } = await startRadosGateway('results');
  return {
    storage: (addressLife) => createS3Storage({ client, bucket, addressLife }),
    put: putToS3,
    keepsDisposition: false,
    close,
  };
});

it.each([
  ['a.png', 'inline; filename="a.png"'],
  ['a"b\\c.png', 'inline; filename="a_b_c.png"; filename*=UTF-8\'\'a%22b%5Cc.png'],
  ['ü.png', 'inline; filename="_.png"; filename*=UTF-8\'\'%C3%BC.png'],
  ["it's (1).png", 'inline; filename="it\'s (1).png"'],
])('names the download %s in the header', (name, header) => {
  expect(disposition(name)).toBe(header);
});
