import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { removeObjectsOf } from '../../../../functions/platform/aws/s3.ts';
import {
  createPrefix,
  createUploadId,
  folderOf,
  uploadKeyOf,
} from '../../../../functions/platform/storage.ts';
import { startRadosGateway } from '../../../aws-servers/radosgw.ts';

it('deletes the results, uploads and cached results of one account', async () => {
  const { client, bucket, close } = await startRadosGateway('results');
  const keysOf = (account: string) => [
    `${createPrefix(account)}a.pdf`,
    `once/${createPrefix(account)}b.pdf`,
    uploadKeyOf(account, createUploadId('c.pdf')),
    `cache/${folderOf(account)}/${'0'.repeat(64)}`,
  ];
  const others = keysOf('other');
  for (const Key of [...keysOf('own'), ...others])
    await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }));

  await removeObjectsOf('own', { client, bucket });

  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(Contents.map(({ Key }) => Key).sort()).toEqual(others.sort());
  await close();
});
