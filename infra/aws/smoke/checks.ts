import { type Check, endpointOf, timed } from './check.ts';

export type { Check } from './check.ts';

interface Service {
  /** URL of the service, with or without a trailing `/api/`. */
  readonly base: string;
  readonly apiKey: string;
  /** URLs that the service can reach. */
  readonly page: string;
  readonly document: string;
}

/** Checks every tool, and everything that only a deployed service can show. Yields each check as it ends. */
export async function* checkService({ base, apiKey, page, document }: Service): AsyncGenerator<Check> {
  const endpoint = endpointOf(base);
  const ask = (query: Record<string, string>) =>
    fetch(`${endpoint}?${new URLSearchParams({ apikey: apiKey, ...query })}`);

  let [pdf, image] = ['', ''];
  const converted = async (query: Record<string, string>, magic: string) => {
    const body = await (await ask(query)).text();
    const address = /^\[Output\] (\S+)<br>$/.exec(body)?.[1];
    if (address === undefined)
      return { passed: false, seen: body.slice(0, 200), address: '', bytes: Buffer.alloc(0) };
    const result = await fetch(address);
    const bytes = Buffer.from(await result.arrayBuffer());
    const { headers } = result;
    const seen = `${bytes.length} bytes, ${headers.get('content-type')}, ${headers.get('content-disposition')}`;
    return { passed: result.ok && bytes.toString('latin1', 0, 16).startsWith(magic), seen, address, bytes };
  };

  yield await timed('html2pdf: converts a page to PDF', async () => {
    const result = await converted({ app: 'html2pdf', infile: page, outfile: 'page.pdf' }, '%PDF-');
    pdf = result.address;
    return result;
  });
  yield await timed('html2image: converts a page to PNG', async () => {
    const result = await converted({ app: 'html2image', infile: page, outfile: 'page.png' }, '\x89PNG');
    image = result.address;
    return result;
  });
  yield await timed('pdftools: converts that PDF to JPEG', () =>
    converted({ app: 'pdftools', infile: pdf, outfile: 'page.jpg', '-r': '72' }, '\xff\xd8\xff'),
  );
  yield await timed('imageproc: converts that PNG to a smaller JPEG', () =>
    converted(
      { app: 'imageproc', infile: image, outfile: 'small.jpg', '-resize': '200x100!' },
      '\xff\xd8\xff',
    ),
  );
  yield await timed('doc2any: converts a document to PDF', () =>
    converted({ app: 'doc2any', infile: document, outfile: 'document.pdf' }, '%PDF-'),
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
    const first = await converted({ ...common, _args: '-crop 50x50+0+0 -resize 40x40!' }, '\x89PNG');
    const second = await converted({ ...common, _args: '-resize 40x40! -crop 30x30+0+0' }, '\x89PNG');
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
