// Sends the same small request repeatedly from its own process, and prints how long each took. The source does not
// exist, so the request uses all of the server, including name resolution, but no engine. A request to the source itself shows
// how busy the machine is at the same time.
import { setTimeout } from 'node:timers/promises';

const [base, apiKey, host] = process.argv.slice(2);
for (let beat = 0; ; beat += 1) {
  const query = new URLSearchParams({
    ...{ apikey: apiKey!, app: 'pdftools' },
    ...{ infile: `http://${host}/missing/${beat}`, outfile: 'x.png' },
  });
  const asked = performance.now();
  await fetch(`http://127.0.0.1:${host!.split(':')[1]}/control`).then((response) => response.text());
  const started = performance.now();
  const code = await fetch(`${base}/api/?${query}`, { signal: AbortSignal.timeout(60_000) }).then(
    async (response) => {
      await response.text();
      return response.headers.get('x-error-code') ?? `${response.status}`;
    },
    (error: Error) => String(error.cause ?? error.message),
  );
  process.stdout.write(
    `${JSON.stringify({ milliseconds: performance.now() - started, control: started - asked, code })}\n`,
  );
  await setTimeout(50);
}
