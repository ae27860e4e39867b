import type { DemoSettings } from '../../shared/settings/accounts.ts';
import { textSetting } from '../../shared/settings/environment.ts';
import type { SandboxMode } from '../../shared/settings/sandbox.ts';
import type { Limits } from '../../shared/tool.ts';
import type { KeyLimits } from '../keys/keys.ts';

/** What the stack tells every function. */
export interface FunctionEnvironment {
  /** Namespace in CloudWatch of the metrics in log lines, one for each stack. */
  readonly metricsNamespace: string;
  readonly limits: Pick<Limits, 'sourceBytes' | 'resultBytes' | 'conversionTime'>;
}

/** What the stack tells the router. */
export interface RouterEnvironment extends FunctionEnvironment {
  readonly resultsBucket: string;
  readonly keyTable: string;
  /** ARN of each tool's function version. */
  readonly toolFunctions: Readonly<Record<string, string>>;
  /** Whether each account has its own execution environments of the tools. */
  readonly isolated: boolean;
  /** Seconds. */
  readonly urlLifetime: number;
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Off if absent. */
  readonly demo?: DemoSettings;
  /** Limits of keys that have none of their own; 0 is no limit. */
  readonly keyLimits: Required<KeyLimits>;
  /** What `GET /api/version` returns. */
  readonly version: { readonly engines?: Readonly<Record<string, string>> };
}

/** What the stack tells a tool. */
export interface ToolEnvironment extends FunctionEnvironment {
  /** Host names of the service, which it must not download from. */
  readonly ownHosts: readonly string[];
  readonly sandbox: SandboxMode;
}

/** The variable that contains the environment as JSON. */
export const ENVIRONMENT_VARIABLE = 'ENVIRONMENT';

/** Reads what the stack has written for this function. */
export function readEnvironment<Environment extends FunctionEnvironment>(): Environment {
  const text = textSetting(ENVIRONMENT_VARIABLE, undefined);
  if (text === undefined) throw new Error(`The variable ${ENVIRONMENT_VARIABLE} is missing.`);
  return JSON.parse(text) as Environment;
}
