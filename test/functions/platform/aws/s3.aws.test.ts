import { setTimeout } from 'node:timers/promises';
import { createS3Put } from '../../../../functions/platform/aws/post-form.ts';
import { createS3Storage } from '../../../../functions/platform/aws/s3.ts';
import { startRadosGateway } from '../../../aws-servers/radosgw.ts';
import { describeStorage } from '../storage.contract.ts';

describeStorage('S3', async () => {
  const { client, bucket, endpoint, close } = await startRadosGateway('results');
  return {
    storage: (urlLifetime) => createS3Storage({ client, bucket, urlLifetime }),
    put: createS3Put(`${endpoint}/${bucket}`),
    keepsDisposition: false,
    wait: setTimeout,
    close,
  };
});
