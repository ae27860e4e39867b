import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doc2any } from '../../functions/doc2any/tool.ts';
import { html2image } from '../../functions/html2image/tool.ts';
import { html2pdf } from '../../functions/html2pdf/tool.ts';
import { pdftools } from '../../functions/pdftools/tool.ts';
import type { Format } from '../../functions/shared/formats.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import { makePdf } from '../fixtures/pdf.ts';
import { SAMPLES as DOC2ANY } from '../functions/doc2any/option-samples.ts';
import { SAMPLES as HTML2IMAGE } from '../functions/html2image/option-samples.ts';
import { SAMPLES as HTML2PDF } from '../functions/html2pdf/option-samples.ts';
import type { Sample } from '../functions/option-effects.ts';
import { SAMPLES as PDFTOOLS } from '../functions/pdftools/option-samples.ts';
import { watermarkOf } from '../helpers/watermark.ts';
import { ownService } from '../lab/service.ts';
import { useService } from './use-service.ts';

const used = useService(
  async () => ({
    'text.docx': await readFile(join(import.meta.dirname, '../fixtures/office/text.docx')),
    'pages.pdf': makePdf([{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
    'page.html':
      '<!doctype html><title>Page</title><h1>First</h1><p id="late" class="ready">text</p><div style="height:3000px"></div><h1>Last</h1><script>window.status = "ready"</script>',
  }),
  { DEMO_PER_ADDRESS: '100000', DEMO_PER_HOUR: '100000' },
);

/** Asks for a demo result, and returns it if there is one. */
async function demo(tool: Tool, format: Format, infile: string, options: Readonly<Record<string, string>>) {
  const query = { app: tool.name, infile: used().sources.urlOf(infile), outfile: `a.${format}`, ...options };
  const response = await fetch(`${used().service.base}/api/?${new URLSearchParams(query)}`);
  const url = /\nDemo result: (\S+)$/.exec(await response.text())?.[1];
  return url === undefined ? undefined : Buffer.from(await (await fetch(url)).arrayBuffer());
}

/** Number of options that are sent together. */
const GROUP = 6;

const TOOLS: ReadonlyArray<
  readonly [tool: Tool, format: Format, infile: string, samples: Readonly<Record<string, Sample>>]
> = [
  [pdftools, 'pdf', 'pages.pdf', PDFTOOLS],
  [pdftools, 'png', 'pages.pdf', PDFTOOLS],
  [html2pdf, 'pdf', 'page.html', HTML2PDF],
  [html2image, 'png', 'page.html', HTML2IMAGE],
  [doc2any, 'pdf', 'text.docx', DOC2ANY],
  [doc2any, 'png', 'text.docx', DOC2ANY],
];

describe.runIf(ownService)('demo mode (needs a service of one machine)', () => {
  it.each(TOOLS)(
    'has a watermark and one page with every option: $name',
    async (tool, format, infile, samples) => {
      const unmarked: string[] = [];
      let converted = 0;
      const cases = Object.entries(samples).map(([key, { value, beside }]) => ({
        ...beside,
        [tool.options[key]!.names[0]!]: value.startsWith('/') ? used().sources.urlOf('page.html') : value,
      }));
      /** Sends options together, and in smaller groups if there is no result, as of some options that exclude each other. */
      const check = async (group: typeof cases): Promise<void> => {
        const options = Object.assign({}, ...group);
        const result = await demo(tool, format, infile, options);
        if (!result) {
          const half = Math.ceil(group.length / 2);
          if (half < group.length)
            for (const part of [group.slice(0, half), group.slice(half)]) await check(part);
          return;
        }
        converted += group.length;
        const { pages, red } = await watermarkOf(result, format);
        if (pages !== 1 || red < 0.01)
          unmarked.push(`${JSON.stringify(options)}: ${pages} pages, ${red} red`);
      };
      for (let at = 0; at < cases.length; at += GROUP) await check(cases.slice(at, at + GROUP));

      expect(unmarked).toEqual([]);
      expect(converted).toBeGreaterThan(0.7 * cases.length);
    },
  );
});
