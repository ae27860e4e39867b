import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runCommand } from '../../layers/build/command.ts';
import { buildOnce } from '../../layers/build/product.ts';

/**
 * AWS's own runtime client. Not in `package.json`: npm 10 would run its install script, which compiles curl and needs CMake,
 * on every machine that only starts the service. `npm pack` downloads it without running anything.
 */
const CLIENT = {
  package: 'aws-lambda-ric@4.0.2',
  integrity:
    'sha512-FE5Vskx7mYNnqAnWWJXUOsLp2VGgdsJsCoRLFTa8L4Yk0QVtArqR8q58yPA++QC1a73ZWJXBQ2AH31nIAv7NOQ==',
} as const;

/**
 * Unpacks AWS's runtime client and returns its folder; `index.mjs` in it is what Lambda runs as
 * `/var/runtime/index.mjs`.
 */
export async function buildRuntimeClient(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/runtime-client');
  await buildOnce({ into, progress }, CLIENT, async (directory) => {
    const packed = await runCommand('npm', [
      ...['pack', CLIENT.package, '--silent', '--pack-destination', directory],
    ]);
    const archive = join(directory, packed.trim().split('\n').at(-1)!);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (`sha512-${digest}` !== CLIENT.integrity) {
      throw new Error(`${CLIENT.package} has the integrity sha512-${digest}, expected ${CLIENT.integrity}.`);
    }
    const files = ['index.mjs', 'package.json', 'LICENSE', 'NOTICE'].map((name) => `package/${name}`);
    await runCommand('tar', ['-xzf', archive, '-C', directory, '--strip-components=1', ...files]);
    await rm(archive);
  });
  return into;
}

const NODE = join(import.meta.dirname, '../../node_modules/.bin/node');

/** Variables that AWS's client requires. */
const REQUIRED_VARIABLES = {
  AWS_LAMBDA_FUNCTION_NAME: 'test',
  AWS_LAMBDA_FUNCTION_VERSION: '1',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_LOG_GROUP_NAME: '/test',
  AWS_LAMBDA_LOG_STREAM_NAME: 'test',
  _HANDLER: 'index.handler',
} as const;

/** Runs a function of this folder (`index.mjs`) in AWS's own runtime client, as an ordinary process without a sandbox. */
export async function startRuntime(taskRoot: string): Promise<{ api: RuntimeApi; child: ChildProcess }> {
  const client = await buildRuntimeClient(() => {});
  const api = new RuntimeApi();
  const address = await api.listen();
  const args = ['--import', join(import.meta.dirname, 'native-client.mjs'), join(client, 'index.mjs')];
  const child = spawn(NODE, args, {
    env: { ...REQUIRED_VARIABLES, LAMBDA_TASK_ROOT: taskRoot, AWS_LAMBDA_RUNTIME_API: address },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    api.onIdle = resolve;
    api.onInitError = (report) => reject(new Error(report));
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`The runtime ended with ${signal ?? code}.`)));
  });
  return { api, child };
}

/** Response of a function: its bytes, and whether they came as a stream or as an error. */
export interface FunctionResponse {
  readonly body: Buffer;
  readonly kind: 'response' | 'stream' | 'error';
  readonly contentType: string;
}

interface Invocation {
  readonly id: string;
  readonly resolve: (response: FunctionResponse) => void;
}

/** The Runtime API of one sandbox: delivers one event at a time and accepts one response for it. */
export class RuntimeApi {
  /** Called when the function asks for its next event. From then on it may be frozen. */
  onIdle: () => void = () => {};
  /** Called when the function could not start. */
  onInitError: (report: string) => void = () => {};
  /** Called when the runtime has exited, which a frozen sandbox shows in no other way. */
  onGone: () => void = () => {};
  /** Where it listens, `host:port`. */
  address = '';
  /** The runtime's connections: its first one, and those that began with the response to the current event. */
  readonly #trusted = new Set<Socket>();
  #first: Socket | undefined;
  #waiting: ServerResponse | undefined;
  #invocation: Invocation | undefined;
  #connections = 0;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async listen({ host, port } = { host: '127.0.0.1', port: 0 }): Promise<string> {
    this.#server.on('connection', (socket) => {
      this.#connections += 1;
      if (this.#first) return;
      this.#first = socket.once('close', () => this.onGone());
      this.#trusted.add(socket);
    });
    this.#server.requestTimeout = 0;
    // A function's connection stays open however long it is frozen.
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    this.address = `${host}:${(this.#server.address() as AddressInfo).port}`;
    return this.address;
  }

  /** Connections by anything but the runtime, such as an engine that tries to read the next event. */
  get visitors(): number {
    return this.#connections - this.#trusted.size;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Delivers an event to a function that waits for one. */
  invoke(
    event: unknown,
    {
      id,
      deadline,
      functionArn,
      account,
    }: { id: string; deadline: number; functionArn: string; account?: string | undefined },
  ): Promise<FunctionResponse> {
    const response = this.#waiting!;
    this.#waiting = undefined;
    const { promise, resolve } = Promise.withResolvers<FunctionResponse>();
    this.#invocation = { id, resolve };
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': id,
      'Lambda-Runtime-Deadline-Ms': String(deadline),
      'Lambda-Runtime-Invoked-Function-Arn': functionArn,
      ...(account === undefined ? {} : { 'Lambda-Runtime-Aws-Tenant-Id': account }),
    });
    response.end(JSON.stringify(event));
    return promise;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace('/2018-06-01/runtime/', '');
    // AWS's client streams over a second connection. Only the runtime knows the random id of the current event.
    const id = this.#invocation?.id;
    if (id !== undefined && path === `invocation/${id}/response`) this.#trusted.add(request.socket);
    // A real Runtime API would serve it.
    if (!this.#trusted.has(request.socket)) return void response.writeHead(403).end();
    if (path === 'invocation/next') {
      this.#waiting = response;
      this.onIdle();
      return;
    }
    const body = await buffer(request);
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}');
    if (path === 'init/error') return this.onInitError(body.toString());
    const contentType = request.headers['content-type'] ?? '';
    const streamed = request.headers['lambda-runtime-function-response-mode'] === 'streaming';
    // A streaming handler reports an error in a trailer.
    const failed = request.trailers['lambda-runtime-function-error-type'];
    if (typeof failed === 'string' && failed !== '') {
      const report = JSON.stringify({ errorType: failed, errorMessage: '' });
      return this.#invocation?.resolve({ body: Buffer.from(report), kind: 'error', contentType });
    }
    const kind = path.endsWith('/error') ? 'error' : streamed ? 'stream' : 'response';
    this.#invocation?.resolve({ body, kind, contentType });
  }
}
