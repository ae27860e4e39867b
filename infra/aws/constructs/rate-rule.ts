import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

/** Requests without a key that an IP address may send, as a share of all. */
const KEYLESS_SHARE = 0.1;
/** The least that WAF allows. */
const MIN_RATE = 10;

/**
 * Blocks an IP address that sends more than `rate` requests in five minutes, or a tenth of that without a key, so that
 * strangers cannot use up the throttle of the gateway.
 */
export class RateRule extends Construct {
  constructor(scope: Construct, id: string, { rate, stageArn }: { rate: number; stageArn: string }) {
    super(scope, id);
    const visibility = (metricName: string) => ({
      cloudWatchMetricsEnabled: true,
      metricName,
      // A sampled request would show its query string, which contains the key.
      sampledRequestsEnabled: false,
    });
    const limited = (limit: number, scopeDownStatement?: CfnWebACL.StatementProperty) => ({
      rateBasedStatement: {
        limit,
        aggregateKeyType: 'IP',
        evaluationWindowSec: 300,
        ...(scopeDownStatement && { scopeDownStatement }),
      },
    });
    const contains = (searchString: string, fieldToMatch: CfnWebACL.FieldToMatchProperty) => ({
      byteMatchStatement: {
        searchString,
        fieldToMatch,
        positionalConstraint: 'CONTAINS',
        textTransformations: [{ priority: 0, type: 'LOWERCASE' }],
      },
    });
    const hasHeader = (name: string) => ({
      sizeConstraintStatement: {
        fieldToMatch: { singleHeader: { Name: name } },
        comparisonOperator: 'GT',
        size: 0,
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    });
    const hasKey = {
      orStatement: {
        statements: [
          contains('apikey=', { queryString: {} }),
          // A signed link.
          contains('_key=', { queryString: {} }),
          hasHeader('x-api-key'),
          hasHeader('authorization'),
        ],
      },
    };
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('docmill'),
      rules: [
        {
          name: 'rate',
          priority: 0,
          action: { block: {} },
          statement: limited(rate),
          visibilityConfig: visibility('docmill-rate'),
        },
        {
          name: 'keyless',
          priority: 1,
          action: { block: {} },
          statement: limited(Math.max(MIN_RATE, Math.round(KEYLESS_SHARE * rate)), {
            notStatement: { statement: hasKey },
          }),
          visibilityConfig: visibility('docmill-keyless'),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
