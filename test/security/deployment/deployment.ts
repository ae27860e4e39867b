import type { LeakFile } from '../attacks/office/archive.ts';
import type { Canary } from '../checks/canary.ts';
import type { Tripwires } from '../namespace/tripwires.ts';
import type { Effort, Reached } from '../row.ts';

/** What came back for one call. */
export interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: string;
  /** Addresses of the results; none on failure. */
  readonly results: readonly string[];
  readonly milliseconds: number;
  readonly retryAfter: string | undefined;
}

/** A process that keeps what it took of memory, with all it started. */
export interface Resident {
  readonly pid: number;
  /** The tool that it works for; or the function, which is weighed alone. */
  readonly tool: string;
  readonly alone?: true;
}

/** A service that is attacked, as its callers see it, and what its besiegers may know of its inside. */
export interface AttackedService {
  readonly base: string;
  readonly apiKey: string;
  /** Calls the service as a caller does, with the key unless the query has one; every byte of the answer passes the canary. */
  ask(query: Readonly<Record<string, string>>): Promise<Answer>;
  /** Downloads a result; its headers and bytes pass the canary. */
  fetchResult(address: string): Promise<Buffer>;
  /** Lets what an answer does not wait for come to its end. */
  rest(): Promise<void>;
  /** What lives on from one conversion to the next. */
  residents(): readonly Resident[];
  /** Processes that convert: all residents but the service itself, and what is below them. */
  engines(): readonly number[];
  /** Folders in which conversions have theirs while they run. */
  temporary(): readonly string[];
  /** Where the Runtime APIs of the sandboxes of a tool listen, `host:port`; nowhere on one machine. */
  runtimeApis(tool: string): readonly string[];
  /** Connections to those by others than their runtimes. */
  visitors(): number;
}

/** How a service is set up to be attacked. */
export interface ServiceSettings {
  readonly canary: Canary;
  /** Loopback ports of the servers that sources come from. */
  readonly sources?: readonly number[];
  /** Conversions of one tool at the same time. */
  readonly size?: number;
  /** Conversions accepted at the same time, where there is a queue. */
  readonly queue?: number;
  /** Milliseconds, whole seconds of them. */
  readonly conversionTime?: number;
}

export interface AttackedBrowser {
  /**
   * Converts a page, in less than the usual time where the deployment can be told; answers the result, or the code it was
   * refused with. @throws for what is no typed error.
   */
  convert(address: string, time?: number): Promise<Buffer | string>;
  /** As of a `AttackedService`. */
  runtimeApis(): readonly string[];
  visitors(): number;
  close(): Promise<void>;
}

/** What the guard before a browser lets pass. */
export interface BrowserRules {
  /** Loopback ports of the servers that pages come from. */
  readonly sources: readonly number[];
  /** Ports that are open beside those, and names, where the deployment lets them be chosen. */
  readonly ports?: readonly number[];
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Milliseconds for a conversion. */
  readonly time?: number;
  readonly canary: Canary;
}

export interface Sample {
  readonly file: LeakFile;
  readonly bytes: Buffer;
}

export interface AttackedOffice {
  /** Converts as callers do, or gives the file to LibreOffice without looking at it first; answers how that ended. */
  convert(sample: Sample, unchecked: boolean): Promise<string>;
  /** As of a `AttackedService`. */
  runtimeApis(): readonly string[];
  visitors(): number;
  close(): Promise<void>;
}

/** A way to run the service, as rows attack it. */
export interface Deployment {
  readonly name: string;
  /** Calls of one tool that it takes at the same time and answers as fast as it can. */
  readonly callers: number;
  /** Starts it with a real key, lets `use` attack it, and closes it; the canary sees all it leaves behind. */
  withService<Result>(
    settings: ServiceSettings,
    use: (service: AttackedService) => Promise<Result>,
  ): Promise<Result>;
  /** The origin by which it reaches a server of ours that listens on a loopback port. */
  originOf(port: number): string;
  attackBrowser(tool: 'html2image' | 'html2pdf', rules: BrowserRules): Promise<AttackedBrowser>;
  attackOffice(canary: Canary): Promise<AttackedOffice>;
  /** Whether LibreOffice can be had without our checks of a file, and files of the machine be watched. */
  readonly opensOffice: boolean;
  /** Runs a command of ours that opens a service by itself, or finds one by the environment it is given. */
  withCommand<Result>(
    canary: Canary,
    use: (environment: Readonly<Record<string, string>>) => Promise<Result>,
  ): Promise<Result>;
  /** Runs `inside`, which a module exports, where every address on earth is a tripwire. */
  inNamespace(module: string, effort: Effort): Promise<Reached>;
  /** Listens for whoever gets out, in a cell. */
  layTripwires(): Promise<Tripwires>;
}

/** A service that runs already, as its callers see it. */
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
