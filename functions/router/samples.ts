import type { Parameter } from '../shared/options/option.ts';
import { namesSource } from '../shared/options/sources.ts';
import type { Tool } from '../shared/tool.ts';

/** Returns the URL that tools download a bundled source from, or `undefined` if there is none with this name. */
export type SampleUrl = (name: string) => Promise<string | undefined> | string | undefined;

const SAMPLE = 'sample:';

/** Returns parameters with URLs in place of `sample:NAME`, in `infile` and in options that name a source. */
export function withSamples(
  parameters: readonly Parameter[],
  { tools, sampleUrl }: { readonly tools: readonly Tool[]; readonly sampleUrl?: SampleUrl | undefined },
): Promise<Parameter[]> {
  return Promise.all(
    parameters.map(async (parameter) => {
      const { name, value } = parameter;
      if (!sampleUrl || !value.startsWith(SAMPLE)) return parameter;
      if (name !== 'infile' && !tools.some((tool) => namesSource(tool, name))) return parameter;
      return { name, value: (await sampleUrl(value.slice(SAMPLE.length))) ?? value };
    }),
  );
}
