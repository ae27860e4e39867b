import { setTimeout } from 'node:timers/promises';
import { createS3Storage } from '../../../../functions/shared/storage/s3.ts';
import { putToS3 } from '../../../../functions/shared/storage/s3-put.ts';
import { startRadosGateway } from '../../../infra/aws/servers/radosgw.ts';
import { describeStorage } from './contract.ts';

describeStorage('S3', async () => {
  const { client, bucket, close } = await startRadosGateway('results');
  return {
    storage: (urlLifetime) => createS3Storage({ client, bucket, urlLifetime }),
    put: putToS3,
    keepsDisposition: false,
    wait: setTimeout,
    close,
  };
});
