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
    const header = (name: string) => ({ singleHeader: { Name: name } });
    const textTransformations = [{ priority: 0, type: 'LOWERCASE' }];
    const matches = (
      searchString: string,
      fieldToMatch: CfnWebACL.FieldToMatchProperty,
      positionalConstraint = 'CONTAINS',
    ) => ({
      byteMatchStatement: { searchString, fieldToMatch, positionalConstraint, textTransformations },
    });
    const hasHeader = (name: string) => ({
      sizeConstraintStatement: {
        fieldToMatch: header(name),
        comparisonOperator: 'GT',
        size: 0,
        textTransformations,
      },
    });
    // `_key` is the parameter of a signed link.
    const keys = ['apikey=', '_key='].map((name) => matches(name, { queryString: {} }));
    const hasKey = {
      orStatement: { statements: [...keys, ...['x-api-key', 'authorization'].map(hasHeader)] },
    };
    const unless = (statement: CfnWebACL.StatementProperty) => ({ notStatement: { statement } });
    const keyless = Math.max(WAF_RATES.min, Math.round(KEYLESS_SHARE * rate));
    const blocked: Record<string, CfnWebACL.StatementProperty> = {
      // Comes first, so that nobody can have requests counted for the address of another.
      ...(frontSecret !== undefined && {
        direct: unless(matches(frontSecret, header(FRONT_HEADER.toLowerCase()), 'EXACTLY')),
      }),
      rate: limited(rate),
      keyless: limited(keyless, unless(hasKey)),
    };
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('docmill'),
      rules: Object.entries(blocked).map(([name, statement], priority) => ({
        name,
        priority,
        action: { block: {} },
        statement,
        visibilityConfig: visibility(`docmill-${name}`),
      })),
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
