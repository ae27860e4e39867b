import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { downloadSource } from '../../../../functions/shared/source/download.ts';
import { inParallel } from '../../../../layers/build/command.ts';
import { type DnsServer, serveDns } from '../../../helpers/dns-server.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { amount, type Row } from '../../row.ts';

/** A public address that nobody uses: a connection times out or fails immediately. */
const PUBLIC = '192.0.3.1';
const LOOPBACK = '127.0.0.1';

/** Each name resolves to a public address when it is checked, and to 127.0.0.1 on the next lookup. */
export const downloadRebinding: Row = {
  name: 'rebinding',
  title: 'DNS rebinding during a download',
  figures: 'connections to the blocked address',
  target: '1000 alternations, 0 hits',
  async run(effort) {
    const rounds = amount(effort, 1000, { short: 50 });
    const prize = await serveHttp((_request, response) => response.end('secret'));
    const dns = await serveDns((_name, asked) => (asked % 2 === 0 ? PUBLIC : LOOPBACK));
    const directory = await mkdtemp(join(tmpdir(), 'rebinding-'));
    const egress = createEgressGuard({ resolve: dns.resolve, resolveTime: 30_000, ports: [prize.port] });
    const failures: string[] = [];
    try {
      const fetched = async (name: string) =>
        downloadSource(`http://${name}:${prize.port}/`, {
          directory,
          egress,
          limits: { sourceBytes: 1000 },
          signal: new AbortController().signal,
          // Long enough to connect to loopback, which takes far less than one millisecond.
          budgets: { connect: 30 },
        }).then(
          () => 'reached',
          (error: { code: string }) => error.code,
        );
      await inParallel([...Array(rounds).keys()], 50, async (round) => {
        const name = `r${round}.example`;
        const codes = [await fetched(name), await fetched(name)];
        if (!/^SOURCE_/.test(codes[0]!) || codes[1] !== 'BLOCKED_ADDRESS')
          failures.push(`${name}: ${codes.join(', ')}`);
        effort.progress(round + 1, rounds);
      });

      const asked = dns.questions();
      const hits = prize.connections();
      if (asked !== 2 * rounds) failures.push(`${asked} questions for ${rounds} alternations`);
      if (hits > 0) failures.push(`${hits} hits`);
      await checkThenDial('control.example', prize.port, dns);
      if (prize.connections() === hits) failures.push('a downloader that resolves twice was not hit either');
      return { figure: `${rounds} alternations, ${hits} hits`, failures };
    } finally {
      dns.close();
      await prize.close();
      await rm(directory, { recursive: true });
    }
  },
};

/** Downloads carelessly: checks the IP address, then connects through a second lookup. */
async function checkThenDial(name: string, port: number, dns: DnsServer): Promise<void> {
  await dns.resolve(name);
  await new Promise<void>((resolve) => {
    const lookup = (
      host: string,
      _options: unknown,
      done: (error: null, answers: { address: string; family: number }[]) => void,
    ) => {
      dns.resolve(host).then((found) => done(null, [{ address: found[0]!, family: 4 }]));
    };
    request({ host: name, port, lookup: lookup as never, agent: false })
      .on('error', () => resolve())
      .on('response', (response) => response.resume().on('end', resolve))
      .end();
  });
}
