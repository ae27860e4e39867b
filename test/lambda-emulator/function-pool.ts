import { Refusal } from '../aws-servers/lambda-endpoint.ts';
import type { Report } from './account.ts';
import { Account } from './account.ts';
import type { FunctionResponse } from './runtime.ts';
import { Ended, type FunctionDefinition, type Host, Sandbox } from './sandbox.ts';

/** Maximum concurrent sandboxes of one function on this machine. Routers mostly wait. */
const MAX_SANDBOXES = 4;
const MAX_ROUTERS = 24;
/** Idle sandboxes of one function that are kept. Lambda keeps more, but here all share the memory of one machine. */
const MAX_IDLE = 6;
const MAX_IDLE_ROUTERS = 24;

/** One deployed function: reuses a warm sandbox where one is free and starts another where none is, as Lambda does. */
export class FunctionPool {
  /** Sandboxes started so far. */
  started = 0;
  /** Events taken so far. */
  events = 0;
  /** Highest MiB seen in any of them. */
  memory = 0;
  /** Milliseconds of CPU time of the last event, including the start of its sandbox. */
  processor = 0;
  /** Tenants that each sandbox has served, for functions with tenant isolation. */
  readonly served = new Map<Sandbox, Set<string | undefined>>();
  /** Connections to the Runtime APIs of ended sandboxes by anything but their runtime. */
  #visited = 0;
  readonly #definition: FunctionDefinition;
  readonly #host: Host;
  readonly #account: Account;
  readonly #report: Report;
  readonly #idle: Sandbox[] = [];
  readonly #all = new Set<Sandbox>();
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(
    definition: FunctionDefinition,
    host: Host,
    account = new Account(),
    report: Report = () => {},
  ) {
    this.#definition = definition;
    this.#host = host;
    this.#account = account;
    this.#report = report;
  }

  /** Sandboxes that have not ended. */
  get sandboxes(): readonly Sandbox[] {
    return [...this.#all].filter(({ over }) => !over);
  }

  /** Events that are running now. */
  get running(): number {
    return this.#running;
  }

  /** Connections to their Runtime APIs by anything but the runtime. */
  get visitors(): number {
    return [...this.#all].reduce((sum, { visitors }) => sum + visitors, this.#visited);
  }

  /**
   * Runs an event. Lambda would start any number of sandboxes. Here, events above a limit wait for their turn.
   * @throws Refusal as Lambda does: above the account's quota or the function's reserved concurrency, or when an account is
   * missing or not expected.
   */
  async invoke(event: unknown, account?: string, qualifier?: string): Promise<FunctionResponse> {
    const { name: FunctionName, reserved, isolated = false } = this.#definition;
    if (isolated !== (account !== undefined)) throw new Refusal(400, 'InvalidParameterValueException');
    try {
      if (reserved !== undefined && this.#running >= reserved)
        throw new Refusal(429, 'TooManyRequestsException');
      const response = await this.#account.run(() => this.#inTurn(event, account, qualifier));
      this.#report(
        'AWS/Lambda',
        { FunctionName },
        { Invocations: 1, Errors: Number(response.kind === 'error') },
      );
      return response;
    } catch (error) {
      if (error instanceof Refusal) this.#report('AWS/Lambda', { FunctionName }, { Throttles: 1 });
      if (error instanceof Ended) this.#report('AWS/Lambda', { FunctionName }, { Invocations: 1, Errors: 1 });
      throw error;
    }
  }

  async #inTurn(
    event: unknown,
    account: string | undefined,
    qualifier: string | undefined,
  ): Promise<FunctionResponse> {
    const { reserved, name } = this.#definition;
    const most = name === 'router' ? MAX_ROUTERS : MAX_SANDBOXES;
    this.events += 1;
    while (reserved === undefined && this.#running >= most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await this.#run(event, account, qualifier);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #run(
    event: unknown,
    account: string | undefined,
    qualifier: string | undefined,
  ): Promise<FunctionResponse> {
    const sandbox = this.#warm(account) ?? this.#start(account);
    this.served.get(sandbox)?.add(account);
    try {
      // A cold sandbox counts from its start, which has not ended yet.
      const before = sandbox.processor;
      const response = await sandbox.invoke(event, qualifier);
      this.processor = sandbox.processor - before;
      this.memory = Math.max(this.memory, sandbox.memory);
      this.#idle.push(sandbox);
      this.#evict();
      return response;
    } catch (error) {
      this.memory = Math.max(this.memory, sandbox.memory);
      this.#forget(sandbox);
      throw error;
    }
  }

  /** Ends every sandbox, so that the next event finds a cold function. */
  cool(): void {
    for (const sandbox of this.#all) {
      sandbox.kill('Runtime.Shutdown');
      this.#forget(sandbox);
    }
    this.#idle.length = 0;
  }

  /** Takes the account's most recently used idle sandbox that has not ended since. */
  #warm(account: string | undefined): Sandbox | undefined {
    for (;;) {
      const index = this.#idle.findLastIndex((sandbox) => sandbox.account === account);
      if (index < 0) return undefined;
      const [sandbox] = this.#idle.splice(index, 1);
      if (!sandbox!.over && sandbox!.hasRuntime) return sandbox;
      sandbox!.kill('Runtime.ExitError');
      this.#forget(sandbox!);
    }
  }

  /** Ends the sandboxes that have been idle longest, above the number that this machine keeps. */
  #evict(): void {
    const most = this.#definition.name === 'router' ? MAX_IDLE_ROUTERS : MAX_IDLE;
    for (const sandbox of this.#idle.splice(0, Math.max(0, this.#idle.length - most))) {
      sandbox.kill('Runtime.Shutdown');
      this.#forget(sandbox);
    }
  }

  #forget(sandbox: Sandbox): void {
    if (!this.#all.delete(sandbox)) return;
    this.#visited += sandbox.visitors;
    if (sandbox.account !== undefined) this.#account.closeEnvironment();
  }

  #start(account: string | undefined): Sandbox {
    if (account !== undefined) this.#account.openEnvironment();
    this.started += 1;
    const sandbox = new Sandbox(this.#definition, this.#host, account);
    this.#all.add(sandbox);
    this.served.set(sandbox, new Set());
    return sandbox;
  }
}
