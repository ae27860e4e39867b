import type { Case, CorpusFile } from './files.ts';
import { checkResult, type Outcome } from './result.ts';

interface Asked {
  readonly base: string;
  readonly apiKey: string;
  readonly address: string;
  /** Timeout in milliseconds for a response. Without one, the conversion counts as hanging. */
  readonly timeout: number;
}

/** Converts one file over HTTP and checks the result. The time is that of the response. */
export async function convertFile(
  file: CorpusFile,
  which: Case,
  { base, apiKey, address, timeout }: Asked,
): Promise<{ outcome: Outcome; milliseconds: number }> {
  const query = new URLSearchParams({ apikey: apiKey, ...which, infile: address });
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  try {
    const response = await fetch(`${base}/api/?${query}`, { signal: AbortSignal.timeout(timeout) });
    const body = await response.text();
    const milliseconds = elapsed();
    return {
      outcome: await outcomeOf(body, response.headers.get('x-error-code'), file, which),
      milliseconds,
    };
  } catch (error) {
    const { name, cause = error } = error as Error;
    const reason = name === 'TimeoutError' ? `hang: no answer in ${timeout} ms` : `no answer: ${cause}`;
    return { outcome: { kind: 'wrong', reason }, milliseconds: elapsed() };
  }
}

async function outcomeOf(body: string, code: string | null, file: CorpusFile, which: Case): Promise<Outcome> {
  const error = /^\[ERROR\] (.+) \(([A-Z_]+)\)$/.exec(body);
  if (error && error[2] === code) return { kind: 'error', code: error[2]!, message: error[1]! };
  const address = /^\[Output\] (\S+)<br>$/.exec(body)?.[1];
  if (address === undefined)
    return { kind: 'wrong', reason: `a body of another form: ${body.slice(0, 200)}` };

  const result = await fetch(address);
  if (!result.ok) return { kind: 'wrong', reason: `the result's address answers ${result.status}` };
  const { wrong, note } = await checkResult(which, file.path, Buffer.from(await result.arrayBuffer()));
  if (wrong !== undefined) return { kind: 'wrong', reason: wrong };
  return { kind: 'ok', ...(note && { note }) };
}
