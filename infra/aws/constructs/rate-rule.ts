import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { FRONT_HEADER, VIEWER_HEADER } from '../../../functions/shared/settings/aws.ts';
import { WAF_RATES } from '../settings.ts';

interface RateRuleProps {
  /** Requests of an IP address in five minutes. */
  readonly rate: number;
  readonly stageArn: string;
  /** Value of the header that CloudFront adds. Absent without CloudFront. */
  readonly frontSecret: string | undefined;
}

/** Requests without a key that an IP address may send, as a share of all. */
const KEYLESS_SHARE = 0.1;

/**
 * Blocks an IP address that sends more than `rate` requests in five minutes, or a tenth of that without a key, so that
 * strangers cannot use up the throttle of the gateway. With CloudFront, it counts the addresses that CloudFront names,
 * and blocks requests that did not come through it, whose sender could name any. It belongs to the gateway, because
 * a web ACL of CloudFront must be in us-east-1.
 */
export class RateRule extends Construct {
  constructor(scope: Construct, id: string, { rate, stageArn, frontSecret }: RateRuleProps) {
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
        ...(frontSecret === undefined
          ? { aggregateKeyType: 'IP' }
          : {
              aggregateKeyType: 'FORWARDED_IP',
              forwardedIpConfig: { headerName: VIEWER_HEADER, fallbackBehavior: 'MATCH' },
            }),
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
    const fromFront = frontSecret !== undefined && {
      byteMatchStatement: {
        searchString: frontSecret,
        fieldToMatch: { singleHeader: { Name: FRONT_HEADER.toLowerCase() } },
        positionalConstraint: 'EXACTLY',
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    };
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('docmill'),
      rules: [
        // Comes first, so that nobody can have requests counted for the address of another.
        ...(fromFront
          ? [
              {
                name: 'direct',
                priority: 0,
                action: { block: {} },
                statement: { notStatement: { statement: fromFront } },
                visibilityConfig: visibility('docmill-direct'),
              },
            ]
          : []),
        {
          name: 'rate',
          priority: 1,
          action: { block: {} },
          statement: limited(rate),
          visibilityConfig: visibility('docmill-rate'),
        },
        {
          name: 'keyless',
          priority: 2,
          action: { block: {} },
          statement: limited(Math.max(WAF_RATES.min, Math.round(KEYLESS_SHARE * rate)), {
            notStatement: { statement: hasKey },
          }),
          visibilityConfig: visibility('docmill-keyless'),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
