import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  PriceClass,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

/** Takes plain http as well as https and passes each request through; nothing is cached. */
export class Front extends Distribution {
  constructor(
    scope: Construct,
    id: string,
    { host, timeout, domain }: { host: string } & NonNullable<Settings['front']>,
  ) {
    super(scope, id, {
      comment: `${Stack.of(scope).stackName}: http and https`,
      defaultBehavior: {
        origin: new HttpOrigin(host, {
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          readTimeout: Duration.seconds(timeout),
          keepaliveTimeout: Duration.seconds(60),
        }),
        viewerProtocolPolicy: ViewerProtocolPolicy.ALLOW_ALL,
        allowedMethods: AllowedMethods.ALLOW_ALL,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        // The gateway finds its API by the host name, so the caller's must not get there.
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        compress: false,
      },
      httpVersion: HttpVersion.HTTP2,
      priceClass: PriceClass.PRICE_CLASS_ALL,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(scope, 'FrontCertificate', domain.certificateArn),
      }),
    });
    const reasons = {
      CFR1: 'Who may convert is decided by the key, not by the country.',
      CFR2: 'WAF is a setting (`wafRate`) and stands before the gateway, where it meets every caller.',
      CFR3: 'Access logs would hold the query, and the query holds the key.',
      CFR4: 'Plain http is what this front is for; callers with https get TLS 1.2 or better.',
    };
    for (const [rule, reason] of Object.entries(reasons)) {
      Validations.of(this).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    }
  }
}
