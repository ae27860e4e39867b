import { textSetting } from '../../shared/settings/environment.ts';
import type { OpenIdSettings, RateLimits, RouterSettings } from '../../shared/settings/service.ts';
import type { ConversionLimits } from '../../shared/tool.ts';
import type { Sizes } from '../usage-report.ts';

/** Makes the objects that are put below a prefix jobs of an account. */
export interface ObjectRule {
  readonly bucket: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly account: string;
  /** Parameters of the conversion, without its source and the name of its result. */
  readonly query: string;
  /** Name of the result, in which `{name}` is that of the object without its extension. */
  readonly outfile: string;
  /** Prefix that the result is moved to, `s3://BUCKET/PREFIX/`. */
  readonly to?: string | undefined;
}

/** Settings that every function gets from the stack. */
export interface FunctionEnvironment {
  /** CloudWatch namespace of the metrics in log lines. Each stack has its own. */
  readonly metricsNamespace: string;
  readonly conversionLimits: Pick<ConversionLimits, 'sourceBytes' | 'resultBytes' | 'conversionTime'>;
}

/** Settings that the router and the site get from the stack. */
export interface SharedEnvironment extends FunctionEnvironment {
  readonly keyTable: string;
  /** Sizes that the reported cost of conversions is computed from. No cost is reported if absent. */
  readonly sizes?: Sizes;
  /** Value of the header that CloudFront adds. Absent without CloudFront. */
  readonly frontSecret?: string;
  /** Body of `GET /api/version`. */
  readonly version: { readonly engines?: Readonly<Record<string, string>>; readonly built?: string };
}

/** Settings that the router gets from the stack. */
export interface RouterEnvironment extends SharedEnvironment {
  readonly resultsBucket: string;
  /** ARN of each tool's function version. */
  readonly toolFunctions: Readonly<Record<string, string>>;
  /** Whether each account has its own execution environments of the tools. */
  readonly isolated: boolean;
  /** Lifetime of URLs in seconds. */
  readonly urlLifetime: number;
  /** Passed to the router's dependencies as they are. */
  readonly settings: RouterSettings;
  /**
   * Maximum milliseconds of a job, while it runs, and the ARN of the version of the function for jobs, which itself does not
   * have it. There are no jobs if absent.
   */
  readonly jobs?: { readonly conversionTime: number; readonly functionName?: string } | undefined;
  /** Objects that become jobs. Only the function for jobs has it. */
  readonly work?: readonly ObjectRule[];
  /** Host names of the service, which no webhook is sent to. The last one is the outermost. */
  readonly ownHosts: readonly string[];
  /** Collector of traces, and the SSM parameter with further headers. None are sent if absent. */
  readonly traces?: { readonly endpoint: string; readonly parameter?: string | undefined } | undefined;
}

/** Settings that the site gets from the stack. */
export interface SiteEnvironment extends SharedEnvironment {
  /** ARN of the router's function version. */
  readonly router: string;
  readonly defaultLimits: RateLimits;
  /** URL of the operator's support page, if it is not the site's own. */
  readonly supportUrl?: string | undefined;
  /** Origin of the deployment. */
  readonly origin: string;
  /** Origin of the results. */
  readonly resultsOrigin: string;
  /** Hours for which results are kept. */
  readonly resultHours: number;
  readonly signUp: 'open' | 'invite' | 'off';
  /** Sender of emails, and the SSM parameter with the URL of the mail server. No emails are sent if absent. */
  readonly mail?: { readonly from: string; readonly parameter: string } | undefined;
  /** OpenID provider for signing in, and the SSM parameter with the client's secret. */
  readonly openId?:
    | (Omit<OpenIdSettings, 'clientSecret'> & { readonly secretParameter?: string | undefined })
    | undefined;
}

/** Settings that the function gets which checks the health of the service. */
export interface HeartbeatEnvironment extends Pick<FunctionEnvironment, 'metricsNamespace'> {
  readonly url: string;
}

/** Settings that a tool gets from the stack. */
export interface ToolEnvironment extends FunctionEnvironment {
  /** Whether each account has its own execution environments. */
  readonly isolated: boolean;
  /** URL of the bucket that stores the results. */
  readonly resultsUrl: string;
  /** Host names of the service, which it must not download from. */
  readonly ownHosts: readonly string[];
}

/**
 * Timeouts of a request to DynamoDB in milliseconds. Most take a few milliseconds, and the SDK retries failed ones.
 */
export const TABLE_CLIENT = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** The variable that contains the environment as JSON. */
export const ENVIRONMENT_VARIABLE = 'ENVIRONMENT';

/** Reads the environment that the stack has written for this function. */
export function readEnvironment<Environment extends FunctionEnvironment>(): Environment {
  const text = textSetting(ENVIRONMENT_VARIABLE, undefined);
  if (text === undefined) throw new Error(`The variable ${ENVIRONMENT_VARIABLE} is missing.`);
  return JSON.parse(text) as Environment;
}
