import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Service } from './calls.ts';
import { isAllowed, type Statement } from './policy.ts';

/** An endpoint of an AWS service that passes on only what a role may do. */
export interface Guard {
  readonly port: number;
  /** Closes the connections that no request uses, as AWS does after a while. */
  closeIdle(): void;
  close(): void;
}

/** Guards an endpoint with the statements of the role whose credentials its requests are signed with. `onDenied` gets what was refused. */
export async function startGuard(
  target: string,
  service: Service,
  statements: readonly Statement[],
  onDenied: (call: string) => void,
): Promise<Guard> {
  const { port } = new URL(target);
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const denied = service
      .callsOf(request, body)
      .filter(({ action, resource }) => !isAllowed(statements, action, resource));
    if (denied.length > 0) {
      for (const { action, resource } of denied) onDenied(`${action} on ${resource}`);
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
