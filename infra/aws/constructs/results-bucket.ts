import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/** Holds results for a day: nothing public, TLS only, encrypted, readable across origins by presigned address. */
export class ResultsBucket extends Bucket {
  constructor(scope: Construct, id: string, { days }: { days: number }) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [
        { expiration: Duration.days(days), abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      cors: [
        {
          allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
          allowedOrigins: ['*'],
          allowedHeaders: ['*'],
          maxAge: 3600,
        },
      ],
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions::AwsSolutions-S1',
      reason:
        'Access logs would hold presigned addresses and outlive the results, which are gone after a day.',
    });
  }
}
