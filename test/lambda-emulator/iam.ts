import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { OperationUpdate } from '@aws-sdk/client-lambda';

/** One statement of a policy. `*` stands for any text, `?` for any character. */
export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Patterns that every item and every attribute of a request to DynamoDB must match. */
  readonly items?: readonly string[];
  readonly attributes?: readonly string[];
}

/** One action on one resource of an AWS service. */
export interface Call {
  readonly action: string;
  readonly resource: string;
  /** Items by their IDs, and attributes, in a request to DynamoDB. */
  readonly items?: readonly string[];
  readonly attributes?: readonly string[];
}

/** Whether statements allow an action on a resource: one must, and none may deny it. */
export function isAllowed(statements: readonly Statement[], call: Call): boolean {
  const { action, resource } = call;
  const areAll = (names: readonly string[] = [], patterns?: readonly string[]) =>
    patterns === undefined || names.every((name) => patterns.some((pattern) => matches(pattern, name)));
  const found = statements.filter(
    ({ actions, resources, items, attributes }) =>
      actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
      resources.some((pattern) => matches(pattern, resource)) &&
      areAll(call.items, items) &&
      areAll(call.attributes, attributes),
  );
  return found.length > 0 && found.every(({ effect }) => effect === 'Allow');
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split(/([*?])/).map((part) => {
    if (part === '*') return '.*';
    return part === '?' ? '.' : part.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}

/** How one service names the calls of a request, and how it refuses them. */
export interface Service {
  callsOf(request: IncomingMessage, body: Buffer): readonly Call[];
  readonly refusal: { readonly status: number; readonly contentType: string; readonly body: string };
}

const ACCOUNT = '123456789012';
const REGION = 'us-east-1';
const OBJECT_ACTIONS: Readonly<Record<string, string>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

export const S3: Service = {
  callsOf({ method = '', url = '' }, body) {
    // The preflight of a browser needs no right.
    if (method === 'OPTIONS') return [];
    const [, bucket = '', ...rest] = new URL(url, 'http://s3').pathname.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    if (method === 'POST' && key === '') {
      const [, formKey = ''] = /name="key"\r\n\r\n(.*?)\r\n/s.exec(body.toString('latin1', 0, 20_000)) ?? [];
      const decoded = Buffer.from(formKey, 'latin1').toString();
      return [{ action: 's3:PutObject', resource: `arn:aws:s3:::${bucket}/${decoded}` }];
    }
    if (key === '') return [{ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}` }];
    const action = OBJECT_ACTIONS[method] ?? `s3:${method}`;
    return [{ action, resource: `arn:aws:s3:::${bucket}/${key}` }];
  },
  refusal: {
    status: 403,
    contentType: 'application/xml',
    body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
  },
};

export const DYNAMODB: Service = {
  callsOf({ headers }, body) {
    const operation = String(headers['x-amz-target']).split('.').at(-1);
    interface Keyed {
      readonly id: { readonly S: string };
    }
    const { TableName, Key, Item, RequestItems, ExpressionAttributeNames } = JSON.parse(body.toString()) as {
      TableName?: string;
      Key?: Keyed;
      Item?: Keyed;
      RequestItems?: Readonly<Record<string, { readonly Keys: readonly Keyed[] }>>;
      ExpressionAttributeNames?: Readonly<Record<string, string>>;
    };
    const one = Key ?? Item;
    const tables = RequestItems ?? { [TableName ?? '']: { Keys: one ? [one] : [] } };
    return Object.entries(tables).map(([table, { Keys }]) => ({
      action: `dynamodb:${operation}`,
      resource: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${table}`,
      items: Keys.map(({ id }) => id.S),
      attributes: ['id', ...Object.values(ExpressionAttributeNames ?? {})],
    }));
  },
  refusal: {
    status: 400,
    contentType: 'application/x-amz-json-1.0',
    body: '{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not authorized"}',
  },
};

const DURABLE_ACTIONS: Readonly<Record<string, string>> = {
  checkpoint: 'lambda:CheckpointDurableExecution',
  state: 'lambda:GetDurableExecutionState',
  stop: 'lambda:StopDurableExecution',
};

export const LAMBDA: Service = {
  callsOf({ url = '' }, body) {
    const path = decodeURIComponent(url);
    const [, execution, call = ''] = /\/durable-executions\/(.+)\/(\w+)(?:\?|$)/.exec(path) ?? [];
    const [, name = ''] = /\/functions\/([^/]+)\/(?:response-streaming-)?invocations/.exec(path) ?? [];
    if (execution === undefined) return [{ action: 'lambda:InvokeFunction', resource: name }];
    // Lambda invokes other functions for an execution with the role of its function.
    const { Updates = [] } = JSON.parse(body.toString() || '{}') as { Updates?: readonly OperationUpdate[] };
    const invoked = Updates.flatMap(({ ChainedInvokeOptions }) => ChainedInvokeOptions?.FunctionName ?? []);
    return [
      { action: DURABLE_ACTIONS[call] ?? call, resource: execution },
      ...invoked.map((resource) => ({ action: 'lambda:InvokeFunction', resource })),
    ];
  },
  refusal: {
    status: 403,
    contentType: 'application/json',
    body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
  },
};

export const SSM: Service = {
  callsOf({ headers }, body) {
    const operation = String(headers['x-amz-target']).split('.').at(-1);
    const { Names = [] } = JSON.parse(body.toString()) as { Names?: string[] };
    return Names.map((name) => ({
      action: `ssm:${operation}`,
      resource: `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter${name}`,
    }));
  },
  refusal: {
    status: 400,
    contentType: 'application/x-amz-json-1.1',
    body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
  },
};

/** An endpoint of an AWS service that passes on only what a role may do. */
interface Guard {
  readonly port: number;
  /** Closes the connections that no request uses, as AWS does after a while. */
  closeIdle(): void;
  close(): void;
}

/** Guards an endpoint with the statements of the role whose credentials its requests are signed with. `onCall` gets each call, and whether it was refused. */
export async function startGuard(
  target: string,
  service: Service,
  statements: readonly Statement[],
  onCall: (call: string, isDenied: boolean) => void,
): Promise<Guard> {
  const { port } = new URL(target);
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const calls = service
      .callsOf(request, body)
      .map((call) => ({ call, isDenied: !isAllowed(statements, call) }));
    for (const { call, isDenied } of calls)
      onCall([`${call.action} on ${call.resource}`, ...(call.items ?? [])].join(' '), isDenied);
    if (calls.some(({ isDenied }) => isDenied)) {
      const { status, contentType, body: text } = service.refusal;
      response.writeHead(status, {
        'content-type': contentType,
        'x-amzn-errortype': 'AccessDeniedException',
      });
      return void response.end(request.method === 'HEAD' ? undefined : text);
    }
    // The host is part of what is signed.
    const { method = 'GET', url: path = '/', headers } = request;
    const passed = send({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    response.once('close', () => passed.destroy());
    passed.once('error', () => response.destroy());
    passed.end(body);
  });
  server.requestTimeout = 0;
  // Longer than a router is frozen.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    closeIdle: () => server.closeIdleConnections(),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
