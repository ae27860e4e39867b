import { readFile } from 'node:fs/promises';
import { launcherIn } from '../../../functions/engines/worker/linux/limits.ts';
import { createEngine as createHtml2image } from '../../../functions/html2image/convert.ts';
import { html2image } from '../../../functions/html2image/tool.ts';
import { createEngine as createHtml2pdf } from '../../../functions/html2pdf/convert.ts';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS, type Converted } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';
import { NO_RUNTIME, startConversions } from './conversions.ts';
import type { AttackedBrowser, BrowserRules } from './deployment.ts';

/** Starts the real engine of a tool behind a guard with these rules. */
export async function attackBrowser(
  name: 'html2image' | 'html2pdf',
  layers: string,
  { sources, ports = [80, 443], resolve, time: usual = 30_000 }: BrowserRules,
): Promise<AttackedBrowser> {
  const conversions = await startConversions();
  const { temporary } = conversions;
  const exceptions = sources.map((port) => `127.0.0.1:${port}`);
  const egress = createEgressGuard({ exceptions, ports, ...(resolve && { resolve, resolveTime: 30_000 }) });
  const sandbox = readSettings().sandbox;
  const launcher = launcherIn(layers);
  const dependencies = {
    layers,
    code: CODE,
    temporary,
    launcher,
    size: 2,
    ...engineNetwork(egress),
    sandbox,
  };
  const image = name === 'html2image';
  const engine = image ? createHtml2image(dependencies) : createHtml2pdf(dependencies);
  const optionsWith = (names: readonly string[]) =>
    readOptions(
      image ? html2image : html2pdf,
      names.map((name) => ({ name, value: '' })),
    ).options;

  const run = (address: string, time: number, more: object) =>
    conversions.run(async (directory) => {
      const { outputs } = await (engine.convert as (conversion: object) => Promise<Converted>)({
        source: new URL(address),
        options: optionsWith([]),
        format: image ? 'png' : 'pdf',
        delivery: 'one',
        directory,
        limits: CONVERSION_LIMITS,
        signal: AbortSignal.timeout(time),
        account: 'attacker',
        ...more,
      });
      for await (const { path } of outputs) return await readFile(path);
      return 'nothing';
    });

  return {
    convert: (address, time = usual) => run(address, time, {}),
    upload: (address, hasNetwork) =>
      run(address, usual, {
        files: [{ path: 'page.html', url: address }],
        ...(hasNetwork && { options: optionsWith(['--enable-network']) }),
      }),
    ...NO_RUNTIME,
    close: async () => {
      await engine.close();
      await conversions.close();
    },
  };
}
