import type { Row } from '../row.ts';
import { neighborRow, PICTURE, repeat } from './neighbor.ts';

const JOBS = 3000;
const WAITING = 300;

/** Jobs and webhooks of one account must not delay the calls of another. */
const flood = neighborRow({
  name: 'jobs',
  title: `${JOBS} jobs with failing webhooks, ${WAITING} waits`,
  source: (request, response) => {
    // A receiver that never responds.
    if (request.method === 'GET') response.end(PICTURE);
  },
  async attack({ attacker, port }, origin) {
    const job = {
      app: 'imageproc',
      infile: `${origin}/a.png`,
      outfile: 'b.jpg',
      _webhook: `${origin}/hook`,
    };
    const accepted = await repeat(JOBS, 8, () => attacker.ask(job));
    const refused = accepted.filter(({ status }) => status !== 202);
    const urls = accepted.flatMap(({ body }) => /\/api\/jobs\/(\w+)/.exec(body)?.[1] ?? []);
    const waits = urls.slice(-WAITING).map(async (id) => {
      const query = new URLSearchParams({ apikey: attacker.apiKey, wait: '10' });
      await (await fetch(`http://127.0.0.1:${port}/api/jobs/${id}?${query}`)).text();
    });
    await Promise.all(waits);
    return {
      figure: `${urls.length} accepted`,
      failures:
        refused.length === 0
          ? []
          : [`${refused.length} jobs were refused, the first with ${refused[0]!.body}`],
    };
  },
});

export const jobRows: readonly Row[] = [flood];
