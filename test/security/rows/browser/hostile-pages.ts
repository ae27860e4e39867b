import { inParallel } from '../../../../layers/build/command.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { HELPERS, HOSTILE_PAGES } from '../../attacks/hostile-pages.ts';
import type { Row } from '../../row.ts';

/** Timeout for a hostile page in milliseconds, and additional time for its end. */
const [DEADLINE, GRACE] = [10_000, 2000];
/** Timeout for the next page, where the deployment supports that. */
const PLAIN_TIME = 60_000;

/** Each page goes to a warm browser that then gets a plain page, which must be converted correctly. */
export const hostilePages: Row = {
  name: 'hostile-pages',
  title: 'hostile pages',
  figures: 'no response before the deadline / next job failed',
  target: '≥ 30, 0 / 0',
  async run({ progress, canary, deployment }) {
    const names = Object.keys(HOSTILE_PAGES);
    const server = await serveHttp((request, response) => {
      const path = decodeURIComponent(request.url?.split('?')[0] ?? '');
      const page = HELPERS[path] ?? HOSTILE_PAGES[path.slice(1)];
      if (typeof page === 'function') return page(response);
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' });
      response.end(page ?? '');
    });
    const origin = deployment.originOf(server.port);
    const late: string[] = [];
    const spoilt: string[] = [];
    let done = 0;
    const tools = ['html2image', 'html2pdf'] as const;
    await inParallel(tools, 2, async (tool) => {
      const browser = await deployment.attackBrowser(tool, {
        canary,
        sources: [server.port],
        time: DEADLINE,
      });
      for (const name of names) {
        const started = Date.now();
        const result = await browser
          .convert(`${origin}/${encodeURIComponent(name)}`)
          .catch((thrown: unknown) => new Error(String(thrown), { cause: thrown }));
        const time = Date.now() - started;
        if (result instanceof Error) late.push(`${tool}, ${name}: ${result.message}`);
        if (time > DEADLINE + GRACE) late.push(`${tool}, ${name}: ${time} ms`);

        const next = await browser.convert(`${origin}/plain`, PLAIN_TIME).catch(String);
        if (typeof next === 'string') spoilt.push(`${tool}, after ${name}: ${next}`);
        progress(++done, tools.length * names.length);
      }
      await browser.close();
    });
    await server.close();
    return {
      figure: `${names.length} × 2, ${late.length} / ${spoilt.length}`,
      failures: [...late, ...spoilt],
    };
  },
};
