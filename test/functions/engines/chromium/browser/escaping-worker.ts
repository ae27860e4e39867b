// A worker whose browser starts a process that nothing but its process group connects to the service.
// Arguments: a mark, by which the test finds that process, and with `--service` the directory of a service to play and, for a
// service whose browsers start nothing else, the script of its workers.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sandboxedCommand } from '../../../../../functions/engines/chromium/browser/browser.ts';
import { WorkerPool } from '../../../../../functions/engines/worker/pool.ts';
import { serveRequests } from '../../../../../functions/engines/worker/serve.ts';

const LAYERS = fileURLToPath(new URL('../../../../../dist/layers', import.meta.url));
const [, script, mark, role, temporary, worker] = process.argv;
/** Neither its directory nor its environment shows whose it is, and it does not end with its parent. */
const ESCAPE = `require('child_process').spawn(process.execPath,
  ['--openssl-config=/dev/null', '-e', 'setInterval(() => {}, 1000)', '${mark}'],
  { cwd: '/', env: {}, detached: true, stdio: 'ignore' });
  setInterval(() => {}, 1000)`;

if (role === '--service') {
  const args = worker === undefined ? [script!, mark!] : [worker, LAYERS, 'best-effort'];
  const command = () => ({ command: process.execPath, args });
  const pool = new WorkerPool(command, { temporary: temporary!, size: 1, requests: 100, memory: 500 });
  await pool.warm();
  setInterval(() => {}, 1000);
} else {
  const home = join(process.cwd(), 'browser');
  mkdirSync(home);
  const sandbox = { layers: LAYERS, home, ports: [1], namespaces: false };
  const [enter, ...args] = sandboxedCommand(sandbox, process.execPath);
  const options = { cwd: home, env: { HOME: home }, stdio: 'ignore' } as const;
  spawn(enter, [...args, '--openssl-config=/dev/null', '-e', ESCAPE], options);
  await serveRequests<{ readonly end: { readonly end: string } }>({
    end: async ({ end }) => {
      if (end === 'crash') process.exit(1);
      if (end === 'hang') await new Promise(() => {});
    },
  });
}
