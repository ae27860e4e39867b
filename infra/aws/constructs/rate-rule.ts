import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

/** Blocks an IP address that sends more than `rate` requests in five minutes. */
export class RateRule extends Construct {
  constructor(scope: Construct, id: string, { rate, stageArn }: { rate: number; stageArn: string }) {
    super(scope, id);
    const visibility = (metricName: string) => ({
      cloudWatchMetricsEnabled: true,
      metricName,
      // A sampled request would show its query string, which contains the key.
      sampledRequestsEnabled: false,
    });
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('docmill'),
      rules: [
        {
          name: 'rate',
          priority: 0,
          action: { block: {} },
          statement: {
            rateBasedStatement: { limit: rate, aggregateKeyType: 'IP', evaluationWindowSec: 300 },
          },
          visibilityConfig: visibility('docmill-rate'),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
