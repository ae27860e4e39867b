import { encode, encodePairs, optionPairs, type State } from './state.ts';

export type Way = 'URL' | 'curl' | 'JavaScript' | 'Python' | 'PHP';

/** A call as it is sent: a URL to fetch, or a file to PUT to a URL. */
export interface ApiCall {
  readonly url: string;
  /** Name of the file that is sent. */
  readonly file?: string | undefined;
}

/**
 * Returns the call for a state, without the key. If `isOrdered`, the order of the options matters. It is lost in a
 * query that passes through API Gateway, so the options are then sent in `_args`.
 */
export function callOf(state: State, origin: string, { file, isOrdered = false }: CallOptions = {}): ApiCall {
  const { app, infile, outfile } = state;
  const source = file === undefined ? [['infile', infile] as const] : [];
  const pairs = optionPairs(state);
  const options = isOrdered && pairs.length > 1 ? [['_args', argsOf(pairs)] as const] : pairs;
  const query = encodePairs([['app', app], ...source, ['outfile', outfile], ...options]);
  if (file === undefined) return { url: `${origin}/api/?${query}` };
  return { url: `${origin}/api/${encode(file)}?${query}`, file };
}

interface CallOptions {
  readonly file?: string | undefined;
  readonly isOrdered?: boolean;
}

/** Writes options as on a command line. */
export function argsOf(pairs: ReturnType<typeof optionPairs>): string {
  const words = pairs.map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  return words.map((word) => (/[\s'"\\]/.test(word) ? shell(word) : word)).join(' ');
}

/** Returns the text of a call in a language. Each program prints the URL of the result. */
export function snippetOf(way: Way, { url, file }: ApiCall): string {
  return SNIPPETS[way](url, file);
}

const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const php = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
const json = (text: string) => JSON.stringify(text);

const SNIPPETS: Readonly<Record<Way, (url: string, file?: string) => string>> = {
  URL: (url, file) => (file === undefined ? url : `PUT ${url}`),
  curl: (url, file) =>
    [
      'curl -g -H "X-Api-Key: $API_KEY"',
      ...(file === undefined ? [] : [`-T ${shell(`./${file}`)}`]),
      shell(url),
    ].join(' \\\n  '),
  JavaScript: (
    url,
    file,
  ) => `import { env } from 'node:process';${file === undefined ? '' : "\nimport { readFile } from 'node:fs/promises';"}

const response = await fetch(
  '${url}',
  {${file === undefined ? '' : `\n    method: 'PUT',\n    body: await readFile(${json(file)}),`}
    headers: { 'X-Api-Key': env.API_KEY, Accept: 'application/json' },
  },
);
const { outputs, detail } = await response.json();
if (!response.ok) throw new Error(detail);
console.log(outputs[0].url);`,
  Python: (url, file) => `import json, os, urllib.request

request = urllib.request.Request(
    '${url}',${file === undefined ? '' : `\n    data=open(${json(file)}, 'rb').read(), method='PUT',`}
    headers={'X-Api-Key': os.environ['API_KEY'], 'Accept': 'application/json'})
with urllib.request.urlopen(request) as response:
    print(json.load(response)['outputs'][0]['url'])`,
  PHP: (url, file) => `<?php
$response = file_get_contents(
    '${url}',
    false, stream_context_create(['http' => [${file === undefined ? '' : `\n        'method' => 'PUT', 'content' => file_get_contents(${php(file)}),`}
        'header' => ['X-Api-Key: ' . getenv('API_KEY'), 'Accept: application/json'],
    ]]));
echo json_decode($response)->outputs[0]->url, "\\n";`,
};
