import { SAMPLES, serveSamples } from '../../../infra/local/self-check/samples.ts';
import type { Deployment } from '../deployment/deployment.ts';

export interface Jobs {
  /** Of the server on loopback that sources come from. */
  readonly port: number;
  /** The n-th of an endless row of jobs that differ: the tools in turn, each result under its own name. */
  query(index: number): Readonly<Record<string, string>>;
  close(): void;
}

/** Serves good sources for every tool: the samples that come with the service. */
export async function serveJobs(deployment: Deployment): Promise<Jobs> {
  const { host, close } = await serveSamples();
  const port = Number(new URL(`http://${host}`).port);
  const origin = deployment.originOf(port);
  return {
    port,
    query: (index) => {
      const { tool, infile, outfile, options } = SAMPLES[index % SAMPLES.length]!;
      // Identical requests would share one conversion.
      return { app: tool, infile: `${origin}/${infile}`, outfile: `${index}-${outfile}`, ...options };
    },
    close,
  };
}
