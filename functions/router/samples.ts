import type { Parameter } from '../shared/options/option.ts';
import { namesSource } from '../shared/options/sources.ts';
import type { Tool } from '../shared/tool.ts';

/** Returns the URL that tools download a bundled source from. */
export type SampleUrl = (name: string) => Promise<string> | string;

const SAMPLE = 'sample:';

/** Returns parameters with URLs in place of `sample:NAME`, in `infile` and in options that name a source. */
export function withSamples(
  parameters: readonly Parameter[],
  { tools, sampleUrl }: { readonly tools: readonly Tool[]; readonly sampleUrl?: SampleUrl | undefined },
): Promise<Parameter[]> {
  return Promise.all(
    parameters.map(async (parameter) => {
      const { name, value } = parameter;
      const sample = tools.map(({ example }) => example.infile).find((infile) => value === SAMPLE + infile);
      if (!sampleUrl || sample === undefined) return parameter;
      if (name !== 'infile' && !tools.some((tool) => namesSource(tool, name))) return parameter;
      return { name, value: await sampleUrl(sample) };
    }),
  );
}
