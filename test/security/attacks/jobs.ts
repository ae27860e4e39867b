import { SAMPLES, serveSamples } from '../../../infra/local/self-check/samples.ts';
import type { Deployment } from '../deployment/deployment.ts';

export interface Jobs {
  /** Port of the loopback server that provides the sources. */
  readonly port: number;
  /** The n-th of an endless sequence of different jobs: the tools in turn, each result with its own name. */
  query(index: number): Readonly<Record<string, string>>;
  close(): void;
}

/** Serves valid sources for every tool: the samples that are part of the service. */
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
