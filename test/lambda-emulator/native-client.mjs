// Preloaded before AWS's runtime client: replaces its compiled part, `rapid-client.node`, which only exchanges HTTP
// messages with the Runtime API. Everything else of the client is AWS's own code.
import http from 'node:http';
import { registerHooks } from 'node:module';

const API = '/2018-06-01/runtime/invocation';
const NATIVE = 'lambda-emulator:native-client';
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
/** The pending response. The next event must not be requested before it has arrived. */
let posting = Promise.resolve();

globalThis[Symbol.for(NATIVE)] = {
  async next() {
    await posting;
    const { headers, body } = await send('GET', `${API}/next`);
    return { bodyJson: body, headers };
  },
  done(id, body) {
    posting = send('POST', `${API}/${id}/response`, body, { 'Content-Type': 'application/json' });
  },
  error(id, body, xray) {
    posting = send('POST', `${API}/${id}/error`, body, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Function-Error-Type': JSON.parse(body).errorType ?? '',
      'Lambda-Runtime-Function-XRay-Error-Cause': encodeURIComponent(xray),
    });
  },
};

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/rapid-client.node')
      ? { url: `file:///${NATIVE}.cjs`, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url.endsWith(`${NATIVE}.cjs`)
      ? {
          format: 'commonjs',
          source: `module.exports = globalThis[Symbol.for('${NATIVE}')];`,
          shortCircuit: true,
        }
      : next(url, context),
});

function send(method, path, body, headers) {
  const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ headers: response.headers, body: text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
