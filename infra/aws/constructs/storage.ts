import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods } from 'aws-cdk-lib/aws-s3';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { CACHE_PREFIX } from '../../../functions/platform/result-cache.ts';
import { DEMO_PREFIX, ONCE_PREFIX, UPLOAD_PREFIX } from '../../../functions/platform/storage.ts';
import { acknowledge } from './acknowledge.ts';

/** Keeps the events of objects that were not converted, with the reason, for 14 days. */
export class FailedObjects extends Queue {
  constructor(scope: Construct, id: string, key: IKey | undefined) {
    super(scope, id, {
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      ...(key ? { encryptionMasterKey: key } : { encryption: QueueEncryption.SQS_MANAGED }),
    });
    acknowledge(this, { SQS3: 'It is such a queue itself.' });
  }
}

/**
 * Stores results for `days`: not public, TLS only, encrypted, readable from other origins by presigned URL. Survives the
 * stack, because a service in use stores new results while it is being deleted.
 */
export class ResultsBucket extends Bucket {
  constructor(scope: Construct, id: string, { days, key }: { days: number; key: IKey | undefined }) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      ...(key
        ? { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
      lifecycleRules: [
        { expiration: Duration.days(days), abortIncompleteMultipartUploadAfter: Duration.days(1) },
        // Uploads expire after an hour, a cached result is used for less than a day, and one for a single download is
        // deleted after it, unless that fails.
        ...[DEMO_PREFIX, ONCE_PREFIX, UPLOAD_PREFIX, CACHE_PREFIX].map((prefix) => ({
          prefix,
          expiration: Duration.days(1),
        })),
      ],
      cors: [
        {
          allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
          allowedOrigins: ['*'],
          allowedHeaders: ['*'],
          maxAge: 3600,
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(this, {
      S1: 'Access logs would contain presigned URLs and outlive the results.',
    });
  }

  /** Lets web pages upload files with forms that the service issued. */
  allowUploads(origins: readonly string[]): void {
    if (origins.length === 0) return;
    this.addCorsRule({
      allowedMethods: [HttpMethods.POST],
      allowedOrigins: [...origins],
      allowedHeaders: ['*'],
    });
  }
}

/** Stores the hashes of API keys. Survives the stack, because the keys cannot be recreated. */
export class KeyTable extends Table {
  constructor(
    scope: Construct,
    id: string,
    { isProtected, key }: { isProtected: boolean; key: IKey | undefined },
  ) {
    super(scope, id, {
      deletionProtection: isProtected,
      ...(key && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
      partitionKey: { name: 'id', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expires',
      // CloudFormation could not delete a protected table after a first deployment that fails, and would stop there.
      removalPolicy: isProtected ? RemovalPolicy.RETAIN : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }
}
