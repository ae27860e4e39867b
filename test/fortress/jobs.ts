import { SAMPLES, serveSamples } from '../../infra/local/samples.ts';

export interface Jobs {
  /** The exact `host:port` that the egress rules have to except. */
  readonly host: string;
  /** The n-th of an endless row of jobs that differ: the tools in turn, each result under its own name. */
  query(index: number): Readonly<Record<string, string>>;
  close(): void;
}

/** Serves good sources for every tool: the samples that come with the service. */
export async function serveJobs(): Promise<Jobs> {
  const { host, close } = await serveSamples();
  return {
    host,
    query: (index) => {
      const { tool, infile, outfile, options } = SAMPLES[index % SAMPLES.length]!;
      // Identical requests would share one conversion.
      return { app: tool, infile: `http://${host}/${infile}`, outfile: `${index}-${outfile}`, ...options };
    },
    close,
  };
}
