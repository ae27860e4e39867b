import { Agent, get } from 'node:http';
import { createApiKey } from '../../functions/platform/keys.ts';
import { type OwnService, startOwnService } from '../lab/service.ts';
import type { Bench } from './row.ts';

/** One call of the service: a tool, its source, and options as in the query. */
export interface Call {
  readonly app: string;
  readonly infile: string;
  readonly outfile: string;
  readonly options?: Readonly<Record<string, string | number | readonly string[]>>;
}

/** Who calls, and until when. */
interface Caller {
  /** Number of the account, below `ACCOUNTS`. 0 is the usual one. */
  readonly account?: number;
  readonly signal?: AbortSignal;
}

export interface Service extends Pick<OwnService, 'steps'> {
  readonly pid: number;
  /** Converts and returns the milliseconds from sending the request to receiving the whole response. */
  convert(call: Call, caller?: Caller): Promise<number>;
  close(): Promise<unknown>;
}

/** Number of accounts that have a key. */
export const ACCOUNTS = 20;

/** Starts the one-machine deployment in a fresh process with an empty temporary folder. */
export async function startBenchedService(sourceHost: string): Promise<Service> {
  const apiKeys = Array.from({ length: ACCOUNTS }, createApiKey);
  let said = '';
  const service = await startOwnService({
    environment: {
      ALLOW_SOURCES: sourceHost,
      // A single account may use half of it, and one row makes 200 calls at once.
      QUEUE: '1000',
      LIMIT_PER_MINUTE: '0',
      LIMIT_PER_MONTH: '0',
      LIMIT_CONCURRENT: '0',
      LOG_LEVEL: 'warn',
      TEST_KEYS: apiKeys.join(),
      TEST_WARM: 'yes',
    },
    log: (text) => (said = text),
  });
  const agent = new Agent({ keepAlive: true });

  return {
    pid: service.process.pid!,
    steps: service.steps,
    async convert({ app, infile, outfile, options = {} }, { account = 0, signal } = {}) {
      const query = new URLSearchParams({ apikey: apiKeys[account]!, app, infile, outfile });
      for (const [name, value] of Object.entries(options))
        for (const each of [value].flat()) query.append(name, String(each));
      const sent = performance.now();
      const answer = await read(`${service.base}/api/?${query}`, agent, signal);
      const milliseconds = performance.now() - sent;
      if (!answer.startsWith('[Output] '))
        throw new Error(`${app} ${infile}: ${answer.slice(0, 300)} ${said}`);
      return milliseconds;
    },
    close: () => {
      agent.destroy();
      return service.close();
    },
  };
}

function read(address: string, agent: Agent, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    get(address, { agent, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => resolve(Buffer.concat(chunks).toString()));
      response.once('error', reject);
    }).once('error', reject);
  });
}

/** One typical call per tool of the service. */
export function sampleCalls({ inputs, urlOf }: Bench): Call[] {
  const file = (name: string) => urlOf(`${inputs.folder}/${name}`);
  return [
    { app: 'pdftools', infile: file('text-12.pdf'), outfile: 'page.jpg', options: { '-r': 72 } },
    { app: 'html2pdf', infile: file('note.html'), outfile: 'page.pdf' },
    { app: 'html2image', infile: file('note.html'), outfile: 'page.png' },
    { app: 'imageproc', infile: file('photo.jpg'), outfile: 'small.jpg', options: { '-resize': '400x300!' } },
    { app: 'doc2any', infile: file('letter.docx'), outfile: 'letter.pdf' },
  ];
}
