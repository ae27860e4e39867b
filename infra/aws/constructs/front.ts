import { Duration, Fn, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  PriceClass,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Construct } from 'constructs';
import { MAX_CACHE } from '../../../functions/conversion/request.ts';
import { FRONT_HEADER, SITE_PATH, VIEWER_HEADER } from '../../../functions/shared/settings/aws.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

type FrontProps = { readonly host: string; readonly hasSite: boolean } & NonNullable<Settings['front']>;

/** All error statuses that CloudFront would otherwise cache for 10 s if they have no `Cache-Control`. */
const ERROR_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** Overwrites what a caller may have sent in the header. */
const NAME_VIEWER = `function handler({ request, viewer }) {
  request.headers['${VIEWER_HEADER.toLowerCase()}'] = { value: viewer.ip };
  return request;
}`;

/**
 * Passes each request on, and refuses plain HTTP unless it was asked for. A redirect would hide from callers that they
 * send their key in clear text. Caches only the files of signed links with `_cache`, because every other response has
 * `no-store`.
 */
export class Front extends Distribution {
  /** Shows the router that a request came through this distribution, and not from a caller who knows the gateway. */
  readonly secret: string;

  constructor(scope: Construct, id: string, props: FrontProps) {
    const { host, timeout, domain, hasSite, acceptUnencryptedHttp } = props;
    // The random part of the stack's ID, which callers never see.
    const secret = Fn.select(2, Fn.split('/', Stack.of(scope).stackId));
    const origin = new HttpOrigin(host, {
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      readTimeout: Duration.seconds(timeout),
      // By default, CloudFront repeats a request that takes too long twice, and each repetition would convert again.
      connectionAttempts: 1,
      customHeaders: { [FRONT_HEADER]: secret },
      keepaliveTimeout: Duration.seconds(60),
    });
    const viewer = new EdgeFunction(scope, 'Viewer', {
      comment: 'Passes on the IP address of the viewer.',
      code: FunctionCode.fromInline(NAME_VIEWER),
      runtime: FunctionRuntime.JS_2_0,
    });
    const functionAssociations = [{ function: viewer, eventType: FunctionEventType.VIEWER_REQUEST }];
    super(scope, id, {
      comment: `${Stack.of(scope).stackName}: ${acceptUnencryptedHttp ? 'http and https' : 'https'}`,
      ...(hasSite && {
        additionalBehaviors: {
          [`${SITE_PATH}*`]: {
            origin,
            viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
            allowedMethods: AllowedMethods.ALLOW_ALL,
            // Pages belong to one person, and identical requests must not wait for each other.
            cachePolicy: CachePolicy.CACHING_DISABLED,
            originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
            functionAssociations,
            compress: false,
          },
        },
      }),
      defaultBehavior: {
        origin,
        viewerProtocolPolicy: acceptUnencryptedHttp
          ? ViewerProtocolPolicy.ALLOW_ALL
          : ViewerProtocolPolicy.HTTPS_ONLY,
        allowedMethods: AllowedMethods.ALLOW_ALL,
        cachePolicy: new CachePolicy(scope, 'FrontCache', {
          comment: 'Caches by the whole query.',
          queryStringBehavior: CacheQueryStringBehavior.all(),
          // The response depends on Origin. The other headers are included because CloudFront lets identical requests
          // wait for the first one, so requests with different keys must differ.
          headerBehavior: CacheHeaderBehavior.allowList('Origin', 'Authorization', 'X-Api-Key'),
          minTtl: Duration.seconds(0),
          defaultTtl: Duration.seconds(0),
          maxTtl: Duration.seconds(MAX_CACHE),
        }),
        // The gateway identifies its API by its own host name.
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        functionAssociations,
        compress: false,
      },
      errorResponses: ERROR_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      httpVersion: HttpVersion.HTTP2,
      priceClass: PriceClass.PRICE_CLASS_ALL,
      ...(domain && {
        domainNames: [domain.name],
        // Without a custom certificate, CloudFront uses its default certificate, with which it accepts TLS 1.0.
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
        certificate: Certificate.fromCertificateArn(scope, 'FrontCertificate', domain.certificateArn),
      }),
    });
    this.secret = secret;
    acknowledge(this, {
      CFR1: 'API keys decide who may convert, not countries.',
      CFR2: 'The web ACL is on the stage of the gateway: one of CloudFront must be in us-east-1.',
      CFR3: 'Access logs would contain the query string, and with it the key.',
      CFR4: 'Plain HTTP is a setting (`acceptUnencryptedHttp`); with a domain of its own HTTPS is TLS 1.2 or better.',
    });
  }
}
