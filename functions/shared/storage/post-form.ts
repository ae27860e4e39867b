import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { pipeline } from 'node:stream/promises';

/** Milliseconds without a byte in either direction after which the server counts as lost. */
const SILENCE = 20_000;

/**
 * Posts fields and one file as multipart/form-data, the file read from disk as it is sent, and answers the reply's start.
 * `fetch` with a form is not used: when the server refuses early, its body stream rejects where nobody can catch it.
 */
export async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  file: { readonly path: string; readonly name: string; readonly bytes: number },
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const boundary = `docmill-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(([name, value]) => part(boundary, `name="${name}"`, value));
  // A form's storage ignores what comes after the file, so the file is last.
  const head = Buffer.from(parts.join('') + part(boundary, 'name="file"; filename="file"'));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { request } = url.startsWith('https:') ? https : http;

  const sending = request(url, {
    method: 'POST',
    signal,
    timeout: SILENCE,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + file.bytes + tail.length,
    },
  });
  sending.on('timeout', () => sending.destroy(new Error('The storage fell silent.')));
  const replied = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', (response) => {
      startOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
  });
  const sent = pipeline(async function* () {
    yield head;
    yield* createReadStream(file.path);
    yield tail;
  }, sending);
  // A refusal may come, and the connection close, before all is sent: then the reply counts, not the broken pipe.
  sent.catch(() => {});
  return await replied;
}

function part(boundary: string, disposition: string, value?: string): string {
  const head = `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  if (value === undefined) return `${head}Content-Type: application/octet-stream\r\n\r\n`;
  return `${head}\r\n${value}\r\n`;
}

async function startOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) if (text.length < 4000) text += chunk;
  return text;
}
