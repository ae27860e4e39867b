import { SAMPLES, sampleQuery } from './samples.ts';

export interface CheckRow {
  readonly tool: string;
  readonly sample: string;
  readonly milliseconds: number;
  readonly bytes: number;
  /** URL of the result, or the error. */
  readonly answer: string;
  readonly passed: boolean;
}

/**
 * Converts a bundled sample with each tool over HTTP, downloads the results, and reports each row when it is
 * finished.
 */
export async function selfCheck(
  { origin, samples, apiKey }: { origin: string; samples: string; apiKey: string },
  tell: (row: CheckRow) => void,
): Promise<boolean> {
  const rows: CheckRow[] = [];
  for (const sample of SAMPLES) {
    const row = await checkOne(origin, `/api/?${sampleQuery(sample, samples, apiKey)}`, sample);
    rows.push(row);
    tell(row);
  }
  return rows.every(({ passed }) => passed);
}

async function checkOne(
  origin: string,
  call: string,
  { tool, infile }: (typeof SAMPLES)[number],
): Promise<CheckRow> {
  const started = performance.now();
  const row = { tool, sample: infile, bytes: 0, passed: false };
  const elapsed = () => Math.round(performance.now() - started);
  try {
    const answer = await (await fetch(`${origin}${call}`)).text();
    const milliseconds = elapsed();
    const url = /^\[Output\] (\S+)<br>$/.exec(answer)?.[1];
    if (url === undefined) return { ...row, milliseconds, answer };

    // PUBLIC_URL names a proxy that may not be running yet, or that this machine cannot reach.
    const { pathname, search } = new URL(url);
    const result = await fetch(`${origin}${pathname}${search}`);
    const bytes = (await result.arrayBuffer()).byteLength;
    return { ...row, milliseconds, bytes, answer: url, passed: result.ok && bytes > 0 };
  } catch {
    return { ...row, milliseconds: elapsed(), answer: 'The service did not respond.' };
  }
}
