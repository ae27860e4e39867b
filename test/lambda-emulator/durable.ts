import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Operation, OperationUpdate } from '@aws-sdk/client-lambda';
import { type Ending, Refusal } from '../aws-servers/lambda-endpoint.ts';

/** Invokes a function by its ARN, as the Invoke API does. */
type Invoke = (functionArn: string, event: unknown, account?: string) => Promise<Ending>;

/** One durable execution, as the service keeps it. */
export interface Execution {
  readonly arn: string;
  readonly functionArn: string;
  readonly payload: string;
  /** By their IDs. The first one is the execution itself. */
  readonly operations: Map<string, Operation>;
  /** IDs of operations that have ended since the function last heard of them. */
  readonly news: Set<string>;
  readonly stopping: AbortController;
  /** Message of the error that it ended with. */
  error?: string | undefined;
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'STOPPED';
  token: string;
  invocations: number;
  isInvoked: boolean;
}

/** Operations in an event. The function reads further ones from the service, whose own limit is one of bytes. */
const PAGE = 4;
/** How long a function is not invoked after it ended without a response, in milliseconds. */
const RETRY = 1000;

/**
 * The service behind Lambda's durable functions: keeps the operations of each execution, and invokes its function with them when
 * something has changed. See https://docs.aws.amazon.com/lambda/latest/dg/durable-basic-concepts.html.
 */
export class DurableService {
  readonly executions = new Map<string, Execution>();
  /** A test may end the function when it records an operation, which is then lost or not. */
  crash: (update: OperationUpdate, execution: Execution) => 'lost' | 'recorded' | undefined = () => undefined;
  readonly #invoke: Invoke;
  readonly #endFunction: (functionArn: string) => void;
  /** How much shorter pauses are than on AWS. */
  readonly #scale: number;

  constructor(invoke: Invoke, endFunction: (functionArn: string) => void, scale: number) {
    this.#invoke = invoke;
    this.#endFunction = endFunction;
    this.#scale = scale;
  }

  /** Responds to a request, unless it is for another part of the Lambda API. @throws Refusal */
  async respond(
    request: IncomingMessage,
  ): Promise<{ status: number; headers: object; body: string } | undefined> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://lambda');
    const { 'x-amz-invocation-type': type, 'x-amz-durable-execution-name': name } = request.headers;
    const [, functionArn] = /\/functions\/(.+)\/invocations$/.exec(decodeURIComponent(pathname)) ?? [];
    if (functionArn && type === 'Event') {
      const arn = this.#start(functionArn, String(name ?? randomUUID()), JSON.stringify(await json(request)));
      return { status: 202, headers: { 'x-amz-durable-execution-arn': arn }, body: '' };
    }
    const [, arn, call] =
      /\/durable-executions\/(.+)\/(checkpoint|state)$/.exec(decodeURIComponent(pathname)) ?? [];
    if (!arn) return undefined;
    const execution = this.executions.get(arn);
    if (!execution) throw new Refusal(404, 'ResourceNotFoundException');
    const body = JSON.stringify(await this.#respond(execution, call!, request, searchParams), (key, value) =>
      // Responses have seconds, and events have text.
      key.endsWith('Timestamp') ? Date.parse(value) / 1000 : value,
    );
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }

  close(): void {
    for (const execution of this.executions.values()) {
      execution.status = 'STOPPED';
      execution.stopping.abort();
    }
  }

  async #respond(execution: Execution, call: string, request: IncomingMessage, query: URLSearchParams) {
    if (call === 'state') {
      checkToken(execution, query.get('CheckpointToken'));
      return pageFrom(execution, Number(query.get('Marker')), Number(query.get('MaxItems')));
    }
    const { CheckpointToken, Updates = [] } = (await json(request)) as {
      CheckpointToken: string;
      Updates?: OperationUpdate[];
    };
    checkToken(execution, CheckpointToken);
    for (const update of Updates) this.#record(execution, update);
    execution.token = randomUUID();
    const Operations = [...execution.news].map((id) => execution.operations.get(id)!);
    execution.news.clear();
    return { CheckpointToken: execution.token, NewExecutionState: { Operations } };
  }

  /** Starts an execution, or returns that of the same name. */
  #start(functionArn: string, name: string, payload: string): string {
    const prefix = `${functionArn}/durable-execution/${name}/`;
    const found = [...this.executions.values()].find(({ arn }) => arn.startsWith(prefix));
    if (found && found.payload !== payload) throw new Refusal(409, 'DurableExecutionAlreadyStartedException');
    if (found) return found.arn;
    const [Id, arn] = [randomUUID(), prefix + randomUUID()];
    const ExecutionDetails = { InputPayload: payload };
    const own = {
      Id,
      Type: 'EXECUTION',
      Status: 'STARTED',
      StartTimestamp: new Date(),
      ExecutionDetails,
    } as const;
    const execution: Execution = {
      ...{ arn, functionArn, payload, operations: new Map([[Id, own]]), news: new Set() },
      ...{ stopping: new AbortController(), status: 'RUNNING', token: '', invocations: 0, isInvoked: false },
    };
    this.executions.set(arn, execution);
    void this.#run(execution);
    return arn;
  }

  /** Invokes the function until it has ended, or until it waits for an operation. */
  async #run(execution: Execution): Promise<void> {
    if (execution.isInvoked) return;
    execution.isInvoked = true;
    while (execution.status === 'RUNNING') {
      execution.news.clear();
      execution.token = randomUUID();
      execution.invocations += 1;
      const event = {
        DurableExecutionArn: execution.arn,
        CheckpointToken: execution.token,
        InitialExecutionState: pageFrom(execution, 0, PAGE),
      };
      const { payload, functionError } = await this.#invoke(execution.functionArn, event).catch(failedBy);
      if (functionError) await this.#pause(execution, RETRY);
      if (functionError || execution.status !== 'RUNNING') continue;
      const { Status = 'FAILED', Error: error } = payload as {
        Status?: 'SUCCEEDED' | 'FAILED' | 'PENDING';
        Error?: { ErrorMessage: string };
      };
      execution.error = error?.ErrorMessage;
      if (Status !== 'PENDING') execution.status = Status;
      else if (execution.news.size === 0 && isWaiting(execution)) break;
    }
    execution.isInvoked = false;
  }

  #pause({ stopping }: Execution, milliseconds: number): Promise<void> {
    return pause(this.#scale * milliseconds, undefined, { signal: stopping.signal }).catch(() => {});
  }

  /** Records an update, and starts what it asks for. */
  #record(execution: Execution, update: OperationUpdate): void {
    const crash = this.crash(update, execution);
    if (crash === 'lost') {
      this.#endFunction(execution.functionArn);
      throw new Refusal(500, 'ServiceException');
    }
    const { Id, ParentId, Name, Type, SubType, Action, Payload: Result } = update;
    const { StepOptions, WaitOptions, ContextOptions, ChainedInvokeOptions } = update;
    const before = execution.operations.get(Id!);
    const operation: Operation = {
      ...(before ?? { Id, ParentId, Name, Type, SubType, StartTimestamp: new Date() }),
      Status: STATUSES[Action as keyof typeof STATUSES],
      ...((Action === 'SUCCEED' || Action === 'FAIL') && { EndTimestamp: new Date() }),
    };
    const Attempt = (before?.StepDetails?.Attempt ?? 0) + Number(Action !== 'START');
    if (Type === 'STEP') operation.StepDetails = { Attempt, Result, Error: update.Error };
    if (Type === 'CONTEXT') operation.ContextDetails = { Result, Error: update.Error, ...ContextOptions };
    execution.operations.set(Id!, operation);
    execution.news.add(Id!);
    if (Action === 'RETRY') {
      const seconds = StepOptions?.NextAttemptDelaySeconds ?? 0;
      operation.StepDetails!.NextAttemptTimestamp = this.#later(execution, operation, seconds, 'READY');
    }
    if (Type === 'WAIT' && Action === 'START') {
      const ScheduledEndTimestamp = this.#later(execution, operation, WaitOptions!.WaitSeconds!, 'SUCCEEDED');
      operation.WaitDetails = { ScheduledEndTimestamp };
    }
    if (Type === 'CHAINED_INVOKE') {
      const { FunctionName, TenantId } = ChainedInvokeOptions!;
      const invoked = this.#invoke(FunctionName!, JSON.parse(Result!), TenantId);
      void invoked.catch(failedBy).then(({ payload, functionError }) => {
        const { errorType, errorMessage } = (payload ?? {}) as { errorType?: string; errorMessage?: string };
        const details = functionError
          ? { Error: { ErrorType: errorType, ErrorMessage: errorMessage } }
          : { Result: JSON.stringify(payload) };
        this.#end(
          execution,
          { ...operation, ChainedInvokeDetails: details },
          functionError ? 'FAILED' : 'SUCCEEDED',
        );
      });
    }
    if (crash === 'recorded') this.#endFunction(execution.functionArn);
  }

  /** Changes the status of an operation after a pause, and returns when that will be. */
  #later(execution: Execution, operation: Operation, seconds: number, status: 'READY' | 'SUCCEEDED'): Date {
    void this.#pause(execution, 1000 * seconds).then(() => this.#end(execution, operation, status));
    return new Date(Date.now() + 1000 * this.#scale * seconds);
  }

  #end(execution: Execution, operation: Operation, Status: 'READY' | 'SUCCEEDED' | 'FAILED'): void {
    if (execution.status !== 'RUNNING') return;
    execution.operations.set(operation.Id!, { ...operation, Status, EndTimestamp: new Date() });
    execution.news.add(operation.Id!);
    void this.#run(execution);
  }
}

const WAITING: readonly string[] = ['WAIT', 'CHAINED_INVOKE'];
const STATUSES = {
  START: 'STARTED',
  SUCCEED: 'SUCCEEDED',
  FAIL: 'FAILED',
  RETRY: 'PENDING',
  CANCEL: 'CANCELLED',
} as const;

/** Whether an operation is going on that will change without the function. */
function isWaiting({ operations }: Execution): boolean {
  return [...operations.values()].some(
    ({ Type, Status }) => Status === 'PENDING' || (Status === 'STARTED' && WAITING.includes(Type!)),
  );
}

/** Returns operations from a position. Leaves out those in a context that has ended, whose result is enough. */
function pageFrom({ operations }: Execution, start: number, count: number) {
  const isOver = ({ ParentId = '' }: Operation): boolean => {
    const parent = operations.get(ParentId);
    const { Status = '', ContextDetails } = parent ?? {};
    const hasResult = ['SUCCEEDED', 'FAILED'].includes(Status) && !ContextDetails?.ReplayChildren;
    return parent !== undefined && (hasResult || isOver(parent));
  };
  const shown = [...operations.values()].filter((operation) => !isOver(operation));
  const end = start + count;
  return { Operations: shown.slice(start, end), ...(end < shown.length && { NextMarker: String(end) }) };
}

function checkToken({ status, token }: Execution, given: string | null): void {
  if (status !== 'RUNNING' || given !== token)
    throw new Refusal(400, 'InvalidParameterValueException', 'Invalid Checkpoint Token');
}

function failedBy(thrown: unknown): Ending {
  const { type, message } = thrown as Refusal;
  return { payload: { errorType: type, errorMessage: message }, functionError: 'Unhandled' };
}
