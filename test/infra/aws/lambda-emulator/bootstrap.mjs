// Stands in for Lambda's Node runtime: takes events from the Runtime API, one at a time, and posts what the handler answers.
import http from 'node:http';
import { finished } from 'node:stream/promises';

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const STREAMED = Symbol('streamed');

globalThis.awslambda = {
  streamifyResponse: (handle) => Object.assign(handle, { [STREAMED]: true }),
  HttpResponseStream: {
    // The head, eight zero bytes, then the body.
    from(stream, head) {
      stream.setHeader('Content-Type', 'application/vnd.awslambda.http-integration-response');
      stream.write(JSON.stringify(head));
      stream.write(Buffer.alloc(8));
      return stream;
    },
  },
};

function call(method, path, headers = {}) {
  const request = http.request({
    hostname,
    port,
    method,
    path: `/2018-06-01/runtime/${path}`,
    agent,
    headers,
  });
  const reply = new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
    });
  });
  return { request, reply };
}

async function post(path, body, headers) {
  const { request, reply } = call('POST', path, { 'Content-Type': 'application/json', ...headers });
  request.end(JSON.stringify(body));
  await reply;
}

const describe = (error) => ({
  errorType: error?.name ?? 'Error',
  errorMessage: String(error?.message ?? error),
  trace: [],
});

let handler;
try {
  ({ handler } = await import('/var/task/index.mjs'));
} catch (error) {
  console.error(error);
  await post('init/error', describe(error));
  process.exit(1);
}

for (;;) {
  const next = call('GET', 'invocation/next');
  next.request.end();
  const { headers, body } = await next.reply;
  const id = headers['lambda-runtime-aws-request-id'];
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()) };
  try {
    const event = JSON.parse(body.toString());
    if (handler[STREAMED]) await stream(id, event, context);
    else await post(`invocation/${id}/response`, await handler(event, context));
  } catch (error) {
    console.error(error);
    await post(`invocation/${id}/error`, describe(error), {
      'Lambda-Runtime-Function-Error-Type': 'Unhandled',
    });
  }
}

async function stream(id, event, context) {
  const { request, reply } = call('POST', `invocation/${id}/response`, {
    'Lambda-Runtime-Function-Response-Mode': 'streaming',
    'Transfer-Encoding': 'chunked',
  });
  await handler(event, request, context);
  await finished(request, { readable: false });
  await reply;
}
