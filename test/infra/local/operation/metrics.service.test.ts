import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../helpers/free-port.ts';
import { startServer } from '../server.ts';

it('counts refused calls and emails that cannot be sent, and tells the age of the engines', async () => {
  const [port, closed] = [await freePort(), await freePort()];
  const mail = { SIGN_UP: 'open', SMTP_URL: `smtp://127.0.0.1:${closed}`, PUBLIC_URL: 'https://d.example' };
  const server = await startServer({ settings: { METRICS_PORT: String(port), ...mail } });
  onTestFinished(() => server.close());
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

  await server.ask({ app: 'imageproc', outfile: 'a.png' });
  await fetch(`${server.base}/account/link`, {
    method: 'POST',
    headers: { Origin: 'https://d.example' },
    body: new URLSearchParams({ email: 'alice@example.com' }),
  });

  await expect.poll(metrics).toContain('docmill_mail_failures_total 1\n');
  expect(server.log()).toContain('"event":"email not sent"');
  expect(await metrics()).toContain('docmill_errors_total{code="MISSING_PARAMETER"} 1\n');
  expect(await metrics()).toMatch(/^docmill_engines_age_days \d+$/m);
});
