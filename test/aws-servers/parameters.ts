import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Starts an endpoint with the action of SSM that reads parameters. */
export async function startParameters(values: Readonly<Record<string, string>>) {
  const server = createServer(async (request, response) => {
    const { Names } = (await json(request)) as { Names: string[] };
    const known = Names.filter((name) => Object.hasOwn(values, name));
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(
      JSON.stringify({
        Parameters: known.map((Name) => ({ Name, Value: values[Name] })),
        InvalidParameters: Names.filter((name) => !known.includes(name)),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
