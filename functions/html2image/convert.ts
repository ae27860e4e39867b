import { fileURLToPath } from 'node:url';
import { createPages } from '../shared/chromium/pages.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Engine, EngineSurroundings } from '../shared/tool.ts';
import type { Html2imageOptions, html2image } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./engine.ts', import.meta.url));

/** Makes the engine: warm browsers that take pictures. */
export function createEngine(
  surroundings: EngineSurroundings,
  engineScript = SCRIPT,
): Engine<typeof html2image> {
  const pages = createPages<Html2imageOptions>(surroundings, engineScript);
  return {
    convert: async (conversion) => {
      if (conversion.options.transparent && conversion.format === 'jpg') {
        const message = "Parameter '--transparent' must not be given for a jpg, which knows no transparency.";
        throw new ConversionError('BAD_PARAMETER', message);
      }
      const { path } = await pages.run(conversion);
      return { outputs: [{ path }] };
    },
    warm: pages.warm,
    close: pages.close,
  };
}
