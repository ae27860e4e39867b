import { FORMATS } from '../../../functions/shared/formats.ts';
import { readOutputName } from '../../../functions/shared/output-name.ts';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { type Check, endpointOf, timed } from './check.ts';

export type { Check } from './check.ts';

interface Service {
  /** URL of the service, with or without a trailing `/api/`. */
  readonly base: string;
  readonly apiKey: string;
  /** URLs of sources that the service can reach, by tool. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Checks every tool, and everything that only a deployed service can show. Yields each check as it ends. */
export async function* checkService({ base, apiKey, sources }: Service): AsyncGenerator<Check> {
  const endpoint = endpointOf(base);
  const ask = (query: Record<string, string>) =>
    fetch(`${endpoint}?${new URLSearchParams({ apikey: apiKey, ...query })}`);

  const converted = async (query: Record<string, string>) => {
    const body = await (await ask(query)).text();
    const address = /^\[Output\] (\S+)<br>$/.exec(body)?.[1];
    if (address === undefined)
      return { passed: false, seen: body.slice(0, 200), address: '', bytes: Buffer.alloc(0) };
    const result = await fetch(address);
    const bytes = Buffer.from(await result.arrayBuffer());
    const { headers } = result;
    const seen = `${bytes.length} bytes, ${headers.get('content-type')}, ${headers.get('content-disposition')}`;
    const { format } = readOutputName(query.outfile!);
    const passed = result.ok && FORMATS[format].matches(bytes.subarray(0, 16));
    return { passed, seen, address, bytes };
  };

  const results: Record<string, string> = {};
  for (const { name, example } of Object.values<Tool>(tools)) {
    const { outfile, options } = example;
    yield await timed(`${name}: converts its source to ${outfile}`, async () => {
      const result = await converted({ app: name, infile: sources[name]!, outfile, ...options });
      results[name] = result.address;
      return result;
    });
  }
  const page = sources.html2pdf!;
  const image = results.html2image!;
  yield await timed('pdftools: converts the PDF of html2pdf to JPEG', () =>
    converted({ app: 'pdftools', infile: results.html2pdf!, outfile: 'page.jpg', '-r': '72' }),
  );
  yield await timed('clients that parse the body in different ways all find the URL', async () => {
    const body = await (await ask({ app: 'imageproc', infile: image, outfile: 'cut.jpg' })).text();
    const cuts = [
      // As documented: remove the marker, every <br> and every space.
      body.replaceAll('[Output]', '').replaceAll('<br>', '').replaceAll(' ', ''),
      body.slice('[Output] '.length, -'<br>'.length),
      body.split('<br>')[0]!.split('[Output]')[1]!.trim(),
      /\[Output\]\s*(\S+?)<br>/.exec(body)?.[1] ?? '',
    ];
    const { status } = await fetch(cuts[0]!);
    return { passed: new Set(cuts).size === 1 && status === 200, seen: `${cuts[0]!.length} characters` };
  });
  yield await timed('the options in _args keep their order', async () => {
    const common = { app: 'imageproc', infile: image, outfile: 'order.png' };
    const first = await converted({ ...common, _args: '-crop 50x50+0+0 -resize 40x40!' });
    const second = await converted({ ...common, _args: '-resize 40x40! -crop 30x30+0+0' });
    const widths = [first, second].map(({ bytes }) => (bytes.length > 24 ? bytes.readUInt32BE(16) : 0));
    return { passed: widths[0] === 40 && widths[1] === 30, seen: `widths ${widths.join(' and ')}` };
  });
  yield await timed('S3 refuses a URL that was changed', async () => {
    const { status } = await fetch(image.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    const cut = await fetch(image.split('?')[0]!);
    return {
      passed: status === 403 && cut.status === 403,
      seen: `status ${status}, without signature ${cut.status}`,
    };
  });
  yield await timed('an invalid key gets status 200 and the documented text', async () => {
    const reply = await ask({ apikey: 'wrong', app: 'html2pdf', infile: page, outfile: 'a.pdf' });
    const body = await reply.text();
    const passed = reply.status === 200 && body.startsWith('[ERROR] Please provide a valid APIKEY.');
    return { passed, seen: `${reply.status}, ${reply.headers.get('content-type')}` };
  });
  yield await timed('other methods and paths are refused in text form', async () => {
    const deleted = await fetch(endpoint, { method: 'DELETE' });
    const elsewhere = await fetch(`${endpoint}elsewhere`);
    const texts = await Promise.all([deleted.text(), elsewhere.text()]);
    const passed =
      deleted.status === 405 &&
      elsewhere.status === 404 &&
      texts.every((text) => text.startsWith('[ERROR] '));
    return { passed, seen: `DELETE ${deleted.status}, another path ${elsewhere.status}` };
  });
  yield await timed('the instance metadata cannot be a source', async () => {
    const reply = await ask({ app: 'html2pdf', infile: 'http://169.254.169.254/latest/', outfile: 'a.pdf' });
    return { passed: reply.status === 403, seen: `${reply.status} ${reply.headers.get('x-error-code')}` };
  });
}
