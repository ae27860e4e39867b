import { createS3Cache } from '../../../../functions/platform/aws/s3.ts';
import { startRadosGateway } from '../../../aws-servers/radosgw.ts';
import { describeCache } from '../result-cache.ts';

describeCache('S3', async () => {
  const { client, bucket, close } = await startRadosGateway('results');
  return { cache: createS3Cache({ client, bucket }), close };
});
