import { Duration, Validations } from 'aws-cdk-lib';
import {
  EndpointType,
  LambdaIntegration,
  ResponseTransferMode,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ERRORS, type ErrorCode } from '../../../functions/shared/errors.ts';
import { TIMEOUTS } from '../../../functions/shared/settings/timeouts.ts';
import type { Settings } from '../settings.ts';

/** What the gateway itself answers, in the service's own form. */
const GATEWAY_REPLIES: ReadonlyArray<readonly [ResponseType, ErrorCode, string]> = [
  [
    ResponseType.MISSING_AUTHENTICATION_TOKEN,
    'NOT_FOUND',
    'There is nothing here; conversions are at /api/.',
  ],
  [ResponseType.RESOURCE_NOT_FOUND, 'NOT_FOUND', 'There is nothing here; conversions are at /api/.'],
  [ResponseType.THROTTLED, 'OVERLOADED', 'The service has all it can do; try again in a few seconds.'],
  [ResponseType.QUOTA_EXCEEDED, 'OVERLOADED', 'The service has all it can do; try again in a few seconds.'],
  [
    ResponseType.WAF_FILTERED,
    'RATE_LIMITED',
    'Too many requests from this address; try again in five minutes.',
  ],
  [ResponseType.INTEGRATION_TIMEOUT, 'TIMED_OUT', 'The conversion took longer than it may.'],
  [ResponseType.DEFAULT_4XX, 'BAD_PARAMETER', 'The request could not be read; is its query percent-encoded?'],
  [ResponseType.DEFAULT_5XX, 'INTERNAL', 'The conversion failed for a reason of ours; it has been logged.'],
];

/** The public address: a regional REST API whose stage is called `api`, so that it answers at exactly `…/api/`. */
export class Endpoint extends RestApi {
  constructor(scope: Construct, id: string, { throttle, domain }: Pick<Settings, 'throttle' | 'domain'>) {
    super(scope, id, {
      description: 'GET /api/ converts what is behind an address.',
      endpointTypes: [EndpointType.REGIONAL],
      // Both are settings of the whole account and region; the router writes a log of its own.
      cloudWatchRole: false,
      deployOptions: {
        stageName: 'api',
        throttlingRateLimit: throttle.rate,
        throttlingBurstLimit: throttle.burst,
      },
      disableExecuteApiEndpoint: domain !== undefined,
    });
    for (const [type, code, message] of GATEWAY_REPLIES) this.addReply(type, code, message);
    if (domain) {
      this.addDomainName('Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        endpointType: EndpointType.REGIONAL,
        securityPolicy: SecurityPolicy.TLS_1_2,
        basePath: 'api',
      });
    }
    // The address without the stage's slash, which nobody asked for.
    this.node.tryRemoveChild('Endpoint');
    this.acknowledge();
  }

  /** Sends everything at the root to the router, which answers other methods itself; streaming lifts the limit of 29 s. */
  connect(router: IFunction): void {
    this.root.addMethod(
      'ANY',
      new LambdaIntegration(router, {
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: Duration.millis(TIMEOUTS.gateway),
        allowTestInvoke: false,
      }),
    );
  }

  private addReply(type: ResponseType, code: ErrorCode, message: string): void {
    const text = (value: string) => `'${value}'`;
    this.addGatewayResponse(`Reply${type.responseType}`, {
      type,
      statusCode: String(ERRORS[code].status),
      responseHeaders: {
        'Content-Type': text('text/plain; charset=utf-8'),
        'X-Content-Type-Options': text('nosniff'),
        'Cache-Control': text('no-store'),
        'X-Error-Code': text(code),
      },
      // The template is chosen by the caller's Accept header and falls back to JSON.
      templates: { 'application/json': `[ERROR] ${message} (${code})` },
    });
  }

  private acknowledge(): void {
    const reasons = {
      APIG1:
        'Access logs need a role that is set once for the whole account; the router logs each request without its query.',
      APIG2:
        'The router checks every parameter itself, to answer all faults at once in the form the callers know.',
      APIG3: 'WAF is a setting (`wafRate`): it costs by the month, and the gateway throttles already.',
      APIG4:
        'Callers carry their key in the query; an authorizer would answer 401 in words the callers do not know.',
      APIG6: 'Execution logs hold the query, and the query holds the key.',
      COG4: 'Callers carry their key in the query; there are no user pools.',
    };
    for (const [rule, reason] of Object.entries(reasons)) {
      Validations.of(this).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    }
  }
}
