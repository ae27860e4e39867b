import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import * as tools from '../../functions/tools.ts';
import { readVersion } from '../../infra/version.ts';
import { useEmulator } from './use-emulator.ts';

const used = useEmulator();

/** Sends a request with any method and headers. */
async function send(path: string, init?: RequestInit) {
  const response = await fetch(`${used().emulator.base}${path}`, init);
  const { status, headers } = response;
  return { status, headers, body: await response.text() };
}

describe('the status of a deployment', () => {
  it('is up when every engine is', async () => {
    const { status, body } = await send('/api/health');

    const up = Object.fromEntries(Object.keys(tools).map((name) => [name, 'up']));
    expect(JSON.parse(body)).toEqual({ status: 'up', tools: up });
    expect(status).toBe(200);
  });

  it('names the versions that were deployed', async () => {
    const { status, body } = await send('/api/version');

    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual(readVersion((layer) => `dist/layers/${layer}`));
  });
});

it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'reports an option named %s as unknown',
  async (name) => {
    const { body } = await send(`/api/?apikey=${used().emulator.apiKey}&app=imageproc&${name}=1`);

    expect(body).toContain(`Unknown option '${name}' for imageproc.`);
  },
);

it.each(['HEAD', 'DELETE', 'OPTIONS', 'PATCH'])('refuses the method %s', async (method) => {
  const { status, headers } = await send(`/api/?apikey=${used().emulator.apiKey}`, { method });

  expect(status).toBe(405);
  expect(headers.get('x-error-code')).toBe('METHOD_NOT_ALLOWED');
});

it('refuses a request above the limit of the gateway, and accepts one below it', async () => {
  const withOption = (length: number) =>
    send(`/api/?apikey=${used().emulator.apiKey}&app=imageproc&-x=${'y'.repeat(length)}`);

  expect((await withOption(9500)).body).toContain("Unknown option '-x'");
  expect(await withOption(10_300)).toMatchObject({
    status: 400,
    body: expect.stringMatching(/^\[ERROR\] The request is too large\. .+ \(BAD_PARAMETER\)$/),
  });
});

it('converts after AWS has closed the connections of a frozen router', async () => {
  const { ask, urlOf, emulator } = used();
  const convert = (name: string) =>
    ask({ app: 'imageproc', infile: urlOf(`${name}/a.png`), outfile: 'a.jpg', _response: 'file' });
  expect((await convert('before')).status).toBe(200);

  for (const name of ['first', 'second', 'third']) {
    emulator.closeIdleConnections();
    const { status, headers } = await convert(name);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  }
  expect(emulator.functions.get('router')!.started).toBe(1);
});

it('shows WebGL, whose driver is inflated beside Chromium', async () => {
  const { ask, urlOf } = used();

  const { body } = await ask({
    app: 'html2image',
    infile: urlOf('webgl.html'),
    outfile: 'a.png',
    '--width': '100',
  });

  const result = await fetch(/^\[Output\] (\S+)<br>$/.exec(body)?.[1] ?? body);
  const pixel = { left: 50, top: 50, width: 1, height: 1 };
  const { data } = await sharp(await result.arrayBuffer())
    .extract(pixel)
    .removeAlpha()
    .raw()
    .toBuffer({
      resolveWithObject: true,
    });
  expect([...data]).toEqual([0, 255, 0]);
});
