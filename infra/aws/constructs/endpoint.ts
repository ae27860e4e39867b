import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  ResponseTransferMode,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ROUTES, type Route } from '../../../functions/router/endpoints.ts';
import { ERRORS, type ErrorCode } from '../../../functions/shared/errors.ts';
import { SITE_PATH, TIMEOUTS } from '../../../functions/shared/settings/aws.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

const { NOT_FOUND, OVERLOADED, INTERNAL } = ERRORS;

/** Value of `Retry-After` in seconds, by code. */
const RETRY_AFTER: Partial<Record<ErrorCode, number>> = {
  OVERLOADED: OVERLOADED.retryAfter,
  RATE_LIMITED: 300,
};

/** The gateway's own error responses, in the format of the service. */
const GATEWAY_RESPONSES: ReadonlyArray<readonly [ResponseType, ErrorCode, string]> = [
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, 'NOT_FOUND', NOT_FOUND.message],
  [ResponseType.RESOURCE_NOT_FOUND, 'NOT_FOUND', NOT_FOUND.message],
  [ResponseType.THROTTLED, 'OVERLOADED', OVERLOADED.message],
  [ResponseType.QUOTA_EXCEEDED, 'OVERLOADED', OVERLOADED.message],
  // Also replaces Lambda's 429 for a router above the account's concurrency.
  [ResponseType.INTEGRATION_FAILURE, 'OVERLOADED', OVERLOADED.message],
  [ResponseType.WAF_FILTERED, 'RATE_LIMITED', 'Too many requests from this IP address. Retry in 5 minutes.'],
  [ResponseType.INTEGRATION_TIMEOUT, 'TIMED_OUT', 'The conversion took longer than its time limit.'],
  [
    ResponseType.REQUEST_TOO_LARGE,
    'BAD_PARAMETER',
    'The request is too large. API Gateway accepts 10,240 bytes of URL and headers, and 4.5 MB of body. Upload larger files with POST /api/uploads.',
  ],
  [
    ResponseType.DEFAULT_4XX,
    'BAD_PARAMETER',
    'The request could not be read. Percent-encode its query string.',
  ],
  [ResponseType.DEFAULT_5XX, 'INTERNAL', INTERNAL.message],
];

/** A line of the access log. It has neither the query string, which contains the key, nor the path, which names files. */
const ACCESS_LOG = {
  time: '$context.requestTime',
  event: 'access',
  requestId: '$context.requestId',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  status: '$context.status',
  bytes: '$context.responseLength',
  milliseconds: '$context.responseLatency',
  // Why the gateway itself replied, such as THROTTLED.
  cause: '$context.error.responseType',
};
const CALLER_IP = { ip: '$context.identity.sourceIp' };

/** The API's paths below the stage. The path of the stage itself is empty. */
const PATHS = Object.entries<Route>(ROUTES).map(([path, route]) => ({
  ...route,
  path: path.slice('/api/'.length),
}));
/** Path of the site, below the stage. */
const SITE = SITE_PATH.split('/').at(-1)!;

/**
 * Requests per second to a path that the gateway accepts for each execution, and at least. It cannot tell requests with
 * a key from those without one, so neither strangers nor customers may use it up: a conversion takes two executions for
 * longer than an eighth of a second, and WAF limits strangers. Lambda itself starts ten a second for each execution.
 */
const [RATE_PER_EXECUTION, MIN_RATE] = [4, 100];
/** The same for each public path. Its response takes the router a few milliseconds. */
const PUBLIC_THROTTLE = { throttlingRateLimit: 10, throttlingBurstLimit: 10 };
/** The same for each of the two resources of the site. A page takes four requests. */
const SITE_THROTTLE = { throttlingRateLimit: 20, throttlingBurstLimit: 20 };

/** The public URL: a regional REST API whose stage is called `api`, so that its URL is exactly `…/api/`. */
export class Endpoint extends RestApi {
  /** Where the DNS record of the custom domain must point. */
  readonly domainTarget: string | undefined;
  readonly accessLog: ILogGroup | undefined;

  constructor(
    scope: Construct,
    id: string,
    {
      accountConcurrency,
      throttle,
      domain,
      corsOrigins,
      site,
      accessLog,
      logIp,
      logDays,
      privateApi,
      name,
      key,
    }: Settings & { readonly name: string; readonly key: IKey | undefined },
  ) {
    const rate = Math.max(MIN_RATE, RATE_PER_EXECUTION * accountConcurrency);
    // Beside this construct, which does not exist yet.
    const log =
      accessLog &&
      new LogGroup(scope, `${id}Log`, {
        retention: logDays,
        removalPolicy: RemovalPolicy.DESTROY,
        ...(key && { encryptionKey: key }),
      });
    const vpcEndpoints = privateApi?.vpcEndpointIds.map((vpcEndpointId) =>
      InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(scope, vpcEndpointId, {
        vpcEndpointId,
        port: 443,
      }),
    );
    super(scope, id, {
      restApiName: name,
      description: 'Converts documents, web pages and images.',
      endpointConfiguration: vpcEndpoints
        ? { types: [EndpointType.PRIVATE], vpcEndpoints }
        : { types: [EndpointType.REGIONAL] },
      // The role is a setting of the whole account and region. The router writes its own log.
      cloudWatchRole: accessLog?.role === 'create',
      ...(accessLog?.role === 'create' && {
        cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      // Bodies are files, so the router must get the bytes as they were sent.
      binaryMediaTypes: ['*/*'],
      deployOptions: {
        stageName: 'api',
        ...(log && {
          accessLogDestination: new LogGroupLogDestination(log),
          accessLogFormat: AccessLogFormat.custom(JSON.stringify({ ...ACCESS_LOG, ...(logIp && CALLER_IP) })),
        }),
        throttlingRateLimit: throttle?.rate ?? rate,
        throttlingBurstLimit: throttle?.burst ?? rate,
        // Throttled, because everyone may call these, and each call takes an execution.
        methodOptions: Object.fromEntries([
          ...PATHS.filter(({ isPublic }) => isPublic).map(({ path }) => [`/${path}/GET`, PUBLIC_THROTTLE]),
          ...(site ? [SITE, `${SITE}/{proxy+}`].map((path) => [`/${path}/ANY`, SITE_THROTTLE]) : []),
        ]),
      },
      disableExecuteApiEndpoint: domain !== undefined,
    });
    this.accessLog = log;
    if (vpcEndpoints) this.grantInvokeFromVpcEndpointsOnly(vpcEndpoints);
    const hasCors = corsOrigins.length > 0;
    for (const [type, code, message] of GATEWAY_RESPONSES) this.addResponse(type, code, message, hasCors);
    if (domain) {
      const { domainNameAliasDomainName } = this.addDomainName('Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        endpointType: EndpointType.REGIONAL,
        securityPolicy: SecurityPolicy.TLS_1_2,
        basePath: 'api',
      });
      this.domainTarget = domainNameAliasDomainName;
    }
    // Removes an output that would repeat the URL.
    this.node.tryRemoveChild('Endpoint');
    this.acknowledgeRules();
  }

  /** Sends every request to the router, which checks its method. Streaming removes the limit of 29 s. */
  connect(
    router: IFunction,
    { hasCors, site }: { readonly hasCors: boolean; readonly site: IFunction | undefined },
  ): void {
    const integrationOf = (handler: IFunction) =>
      new LambdaIntegration(handler, {
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: Duration.millis(TIMEOUTS.gateway),
        allowTestInvoke: false,
      });
    const integration = integrationOf(router);
    for (const { path, methods, uploadMethods = [], isPublic } of PATHS) {
      const resource = path === '' ? this.root : this.root.resourceForPath(path);
      const isNamed = path === '{name}';
      const own = isNamed ? [...methods, ...uploadMethods] : ['ANY', ...(isPublic ? methods : [])];
      // Browsers send a preflight request first.
      if (isNamed && hasCors) own.push('OPTIONS');
      for (const method of own) resource.addMethod(method, integration);
    }
    if (site) {
      const pages = this.root.addResource(SITE);
      pages.addMethod('ANY', integrationOf(site));
      pages.addResource('{proxy+}').addMethod('ANY', integrationOf(site));
    }
  }

  private addResponse(type: ResponseType, code: ErrorCode, message: string, hasCors: boolean): void {
    const text = (value: string) => `'${value}'`;
    const retryAfter = RETRY_AFTER[code];
    this.addGatewayResponse(`Response${type.responseType}`, {
      type,
      statusCode: String(ERRORS[code].status),
      responseHeaders: {
        'Content-Type': text('text/plain; charset=utf-8'),
        'X-Content-Type-Options': text('nosniff'),
        'Cache-Control': text('no-store'),
        'X-Error-Code': text(code),
        // The same as in the router's log, which uses the gateway's ID unless the caller sends one.
        'X-Request-Id': 'context.requestId',
        ...(retryAfter !== undefined && { 'Retry-After': text(String(retryAfter)) }),
        // The gateway cannot choose among several origins, and these responses contain nothing about a caller.
        ...(hasCors && {
          'Access-Control-Allow-Origin': text('*'),
          'Access-Control-Expose-Headers': text('*'),
        }),
      },
      // The gateway chooses the template by the caller's Accept header and falls back to JSON.
      templates: { 'application/json': `[ERROR] ${message} (${code})` },
    });
  }

  private acknowledgeRules(): void {
    acknowledge(this, {
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'The role that API Gateway documents for its logs.',
      APIG1:
        'Access logs are a setting (`accessLog`): they need a role that is set once for the whole account, and the router logs each request.',
      APIG2:
        'The router validates every parameter, to report all mistakes at once in the form of the service.',
      APIG3: 'WAF is a setting (`wafRate`), which is on in production: it has a monthly price.',
      APIG4:
        'Callers send their key in the query string; an authorizer would reject them with 401 and a body they do not expect.',
      APIG6: 'Execution logs contain the query string, and with it the key.',
      COG4: 'Callers send their key in the query string, and the site has sessions of its own.',
    });
  }
}
