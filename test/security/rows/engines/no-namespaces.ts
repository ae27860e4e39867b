import { spawnSync } from 'node:child_process';
import { readProcess } from '../../../../functions/engines/worker/linux/proc.ts';
import { SAMPLES, serveSamples } from '../../../../infra/local/self-check/samples.ts';
import { descendants } from '../../../helpers/descendants.ts';
import { type SharedService, withSharedService } from '../../neighbor/service.ts';
import type { Row } from '../../row.ts';

const NOBODY = 65_534;
/** Makes an ordinary user in a user namespace in which no others can be created. */
const COMMAND = [
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  'unshare',
  '--user',
  '--map-current-user',
  '--keep-caps',
  'sh',
  '-c',
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"',
  'sh',
];
const BROWSERS = ['html2pdf', 'html2image'];

/** Where Chromium cannot create the namespaces of its own sandbox, the sandbox around it must hold. */
export const noNamespaces: Row = {
  name: 'no-namespaces',
  title: 'an ordinary user without user namespaces',
  figures: 'tools that convert with SANDBOX=best-effort; with required; browsers without a filter',
  target: `${SAMPLES.length}; ${SAMPLES.length - BROWSERS.length}; 0`,
  async run() {
    if (spawnSync(COMMAND[0]!, [...COMMAND.slice(1), process.execPath, '--version']).status !== 0) {
      return {
        figure: 'not run',
        failures: [],
        skipped: 'this user cannot become another one without namespaces',
      };
    }
    const samples = await serveSamples();
    const port = Number(new URL(`http://${samples.host}`).port);
    const convertAll = (mode: string) => {
      const settings = {
        sources: [port],
        environment: { SANDBOX: mode },
        as: { command: COMMAND, user: NOBODY },
      };
      return withSharedService(settings, async (service) => ({
        converted: await convertSamples(service, port),
        ...countBrowsers(service.process.pid!),
      }));
    };
    const effort = await convertAll('best-effort');
    const required = await convertAll('required');
    samples.close();

    const failures: string[] = [];
    const missing = SAMPLES.map(({ tool }) => tool).filter((tool) => !effort.converted.includes(tool));
    if (missing.length > 0) failures.push(`best-effort: ${missing} did not convert`);
    const others = SAMPLES.map(({ tool }) => tool).filter((tool) => !BROWSERS.includes(tool));
    if (required.converted.join() !== others.join())
      failures.push(`required: ${required.converted} converted`);
    if (effort.browsers === 0) failures.push('no browser was found');
    if (effort.open > 0)
      failures.push(`${effort.open} of ${effort.browsers} browser processes have no filter`);
    return { figure: `${effort.converted.length}; ${required.converted.length}; ${effort.open}`, failures };
  },
};

/** Returns the tools that convert their sample. */
async function convertSamples({ neighbor }: SharedService, port: number): Promise<string[]> {
  const converted: string[] = [];
  for (const { tool, infile, outfile, options } of SAMPLES) {
    const query = { app: tool, infile: `http://127.0.0.1:${port}/${infile}`, outfile, ...options };
    if ((await neighbor.ask(query)).results.length === 1) converted.push(tool);
  }
  return converted;
}

function countBrowsers(service: number): { browsers: number; open: number } {
  const browsers = descendants(service).filter((pid) =>
    /\/chromium\/chromium[\0 ]/.test(readProcess(pid, 'cmdline')),
  );
  const open = browsers.filter((pid) => !/^Seccomp:\s+2$/m.test(readProcess(pid, 'status')));
  return { browsers: browsers.length, open: open.length };
}
