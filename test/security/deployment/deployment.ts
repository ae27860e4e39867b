import type { LeakFile } from '../attacks/office.ts';
import type { Canary } from '../checks.ts';
import type { Tripwires } from '../namespace/run.ts';
import type { Verdict } from '../neighbor/service.ts';
import type { Effort, Reached, Row } from '../row.ts';

/** The response to one call. */
export interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: string;
  /** URLs of the results. None on failure. */
  readonly results: readonly string[];
  readonly milliseconds: number;
  readonly retryAfter: string | undefined;
  readonly requestId: string | undefined;
}

/** A long-lived process with its descendants, which may keep memory. */
export interface Resident {
  readonly pid: number;
  /** The tool that it works for, or the function, which is measured alone. */
  readonly tool: string;
  readonly alone?: true;
}

/** A service under attack, as its callers see it, with the internals that the attacks use. */
export interface AttackedService {
  /** MiB that the service's own heap holds without garbage; absent where the service is this process. */
  readonly heap?: () => Promise<number>;
  readonly base: string;
  readonly apiKey: string;
  /**
   * Calls the service as a caller does, with the key unless the query has one. The canary searches every byte of the
   * response.
   */
  ask(query: Readonly<Record<string, string>>): Promise<Answer>;
  /** Log lines about a request, as far as they are kept. */
  logOf?(requestId: string): readonly string[];
  /** Downloads a result. The canary searches its headers and bytes. */
  fetchResult(address: string): Promise<Buffer>;
  /** Waits for work that continues after the response. */
  rest(): Promise<void>;
  /** Processes that survive from one conversion to the next. */
  residents(): readonly Resident[];
  /** Processes that convert: all long-lived processes except the service itself, and their descendants. */
  engines(): readonly number[];
  /** Parent folders of the conversions' directories. */
  temporary(): readonly string[];
  /** Where the Runtime APIs of a tool's sandboxes listen, `host:port`. None on one machine. */
  runtimeApis(tool: string): readonly string[];
  /** Connections to those by anything but their runtimes. */
  visitors(): number;
}

/** Settings of a service under attack. */
export interface ServiceSettings {
  readonly canary: Canary;
  /** Loopback ports of the servers that provide the sources. */
  readonly sources?: readonly number[];
  /** Maximum number of concurrent conversions of one tool. */
  readonly size?: number;
  /** Maximum number of accepted conversions, where there is a queue. */
  readonly queue?: number;
  /** In milliseconds, a multiple of 1000. */
  readonly conversionTime?: number;
  /** Receives how a second account was served during the attack, where the deployment has one. */
  readonly report?: (verdict: Verdict) => void;
}

export interface AttackedBrowser {
  /**
   * Converts a page, with a shorter time limit where the deployment supports that. Returns the result, or the code of
   * the error. @throws if the error has no code.
   */
  convert(address: string, time?: number): Promise<Buffer | string>;
  /** Converts a page as an upload, optionally with `--enable-network`, where the engine is not behind a service. */
  upload?(address: string, hasNetwork: boolean): Promise<Buffer | string>;
  /** As in `AttackedService`. */
  runtimeApis(): readonly string[];
  visitors(): number;
  close(): Promise<void>;
}

/** Rules of a browser's egress guard. */
export interface BrowserRules {
  /** Loopback ports of the servers that provide the pages. */
  readonly sources: readonly number[];
  /** Further allowed ports and names, where the deployment supports that. */
  readonly ports?: readonly number[];
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Timeout of a conversion in milliseconds. */
  readonly time?: number;
  readonly canary: Canary;
}

export interface Sample {
  readonly file: LeakFile;
  readonly bytes: Buffer;
}

export interface AttackedOffice {
  /** Converts as callers do, or passes the file to LibreOffice without checking it first. Returns the outcome. */
  convert(sample: Sample, unchecked: boolean): Promise<string>;
  /** As in `AttackedService`. */
  runtimeApis(): readonly string[];
  visitors(): number;
  close(): Promise<void>;
}

/** A deployment of the service that rows attack. */
export interface Deployment {
  readonly name: string;
  /** Concurrent calls of one tool that it processes without waiting. */
  readonly callers: number;
  /** Starts it with a real key, lets `use` attack it, and closes it. The canary searches everything it leaves behind. */
  withService<Result>(
    settings: ServiceSettings,
    use: (service: AttackedService) => Promise<Result>,
  ): Promise<Result>;
  /** The origin under which the service reaches a server on a loopback port. */
  originOf(port: number): string;
  attackBrowser(tool: 'html2image' | 'html2pdf', rules: BrowserRules): Promise<AttackedBrowser>;
  attackOffice(canary: Canary): Promise<AttackedOffice>;
  /** Whether LibreOffice can run without the checks of a file, and accesses to files of the machine can be observed. */
  readonly opensOffice: boolean;
  /** Runs a command of the project that starts a service itself, or finds one in its environment. */
  withCommand<Result>(
    canary: Canary,
    use: (environment: Readonly<Record<string, string>>) => Promise<Result>,
  ): Promise<Result>;
  /** Runs `inside` of a row in a network where every address is a tripwire. */
  inNamespace(row: Row, effort: Effort): Promise<Reached>;
  /** Listens for connections that escape, in a network namespace. */
  layTripwires(): Promise<Tripwires>;
}

/** A service that is already running, as its callers see it. */
export function callersOf(
  base: string,
  apiKey: string,
  canary: Canary,
): Pick<AttackedService, 'base' | 'apiKey' | 'ask' | 'fetchResult'> {
  return {
    base,
    apiKey,
    async ask(query) {
      const started = Date.now();
      const response = await fetch(`${base}/api/?${new URLSearchParams({ apikey: apiKey, ...query })}`);
      const body = await response.text();
      canary.inspect('headers of an answer', JSON.stringify([...response.headers]));
      canary.inspect('body of an answer', body);
      return {
        status: response.status,
        code: response.headers.get('x-error-code') ?? undefined,
        body,
        results: [...body.matchAll(/\[Output\] (\S+)<br>/g)].map(([, address]) => address!),
        milliseconds: Date.now() - started,
        retryAfter: response.headers.get('retry-after') ?? undefined,
        requestId: response.headers.get('x-request-id') ?? undefined,
      };
    },
    async fetchResult(address) {
      const response = await fetch(address);
      const bytes = Buffer.from(await response.arrayBuffer());
      canary.inspect('headers of a result', JSON.stringify([...response.headers]));
      canary.inspect('bytes of a result', bytes);
      if (!response.ok) throw new Error(`A result could not be downloaded: ${response.status}.`);
      return bytes;
    },
  };
}
