import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { hostCommand, urlOf } from '../../../functions/engines/office/host.ts';
import { MESSAGES } from '../../../functions/engines/office/office.ts';
import { launcherIn } from '../../../functions/engines/worker/linux/limits.ts';
import { WorkerPool } from '../../../functions/engines/worker/pool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';
import { removePipes } from '../../soffice/pipes.ts';
import { NO_RUNTIME, startConversions } from './conversions.ts';
import type { AttackedOffice, Sample } from './deployment.ts';

const TIME = 60_000;

/** Starts the real engine of doc2any, and its LibreOffice alone, as if all checks had been bypassed. */
export async function attackOffice(layers: string): Promise<AttackedOffice> {
  const conversions = await startConversions();
  const { temporary } = conversions;
  const launcher = launcherIn(layers);
  const engine = createEngine({ layers, code: CODE, temporary, launcher, size: 2, ...engineNetwork() });
  const bare = new WorkerPool(hostCommand({ layers }), {
    temporary,
    launcher,
    size: 2,
    requests: 200,
    memory: 900,
    messages: MESSAGES,
  });
  const { options } = readOptions(doc2any, []);

  async function convertIn(directory: string, { file, bytes }: Sample, unchecked: boolean): Promise<string> {
    const path = join(directory, unchecked ? `document.${file.extension}` : 'source');
    await writeFile(path, bytes);
    const run = { account: 'attacker', directory, signal: AbortSignal.timeout(TIME) };
    if (unchecked) {
      const [source, target] = [basename(path), 'out.pdf'];
      const urls = { source: urlOf(source), target: urlOf(target) };
      const given = { ...urls, load: 'Batch=true', filter: 'pdf', save: '{}' };
      const files = { inputs: [source], outputs: [target] };
      await bare.run({ operation: 'convert', arguments: given, ...files }, run);
      return 'converted';
    }
    await engine.convert({
      source: { path, name: `x.${file.extension}`, contentType: '', bytes: bytes.length },
      options: options as Parameters<typeof engine.convert>[0]['options'],
      format: 'pdf',
      delivery: 'one',
      limits: CONVERSION_LIMITS,
      ...run,
    });
    return 'converted';
  }

  return {
    convert: (sample, unchecked) =>
      conversions
        .run((directory) => convertIn(directory, sample, unchecked))
        .catch((thrown) => `fault: ${thrown}`),
    ...NO_RUNTIME,
    close: async () => {
      await Promise.all([engine.close(), bare.close()]);
      await conversions.close();
    },
  };
}

/** Converts a few files with the same LibreOffice without any protection, which shows which of the files work. */
export async function convertUnprotected(layers: string, samples: readonly Sample[]): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'unprotected-'));
  const profile = pathToFileURL(join(home, 'profile')).href;
  const office = join(layers, 'libreoffice');
  const [program, libraries] = [join(office, 'program'), join(office, 'lib')];
  const paths = samples.map(({ file }, index) => join(home, `document-${index}.${file.extension}`));
  await Promise.all(samples.map(({ bytes }, index) => writeFile(paths[index]!, bytes)));
  const args = [
    ...[
      '--library-path',
      `${program}:${libraries}`,
      join(program, 'soffice.bin'),
      '--headless',
      '--norestore',
    ],
    ...[`-env:UserInstallation=${profile}`, '--convert-to', 'pdf'],
    ...['--outdir', home, ...paths],
  ];
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, SAL_USE_VCLPLUGIN: 'svp' };
  const loader = join(libraries, 'ld-linux-x86-64.so.2');
  const start = () =>
    new Promise<number | string | null | undefined>((resolve) => {
      execFile(loader, args, { env, timeout: TIME, killSignal: 'SIGKILL' }, (error) => resolve(error?.code));
    });
  // A new profile requires a restart.
  if ([79, 81].includes(Number(await start()))) await start();
  removePipes(profile);
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}
