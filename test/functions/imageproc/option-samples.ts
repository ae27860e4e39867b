import type { imageproc } from '../../../functions/imageproc/tool.ts';
import type { Samples } from '../option-effects.ts';

/** A value for each option. The sources are those of `convert.option-effects.engine.test.ts`. */
export const SAMPLES: Samples<typeof imageproc, 'steps'> = {
  autoOrient: { value: 'off', source: 'turned' },
  frame: { value: '1', source: 'animation' },
  quality: { value: '20' },
  interlace: { value: 'Plane' },
  type: { value: 'Grayscale' },
  depth: { value: '1', source: 'black' },
  compress: { value: 'None' },
  sampling: { value: '4:2:0' },
  define: { value: 'jpeg:extent=2kb' },
  density: { value: '300', source: 'drawing' },
  units: { value: 'PixelsPerCentimeter', beside: { '-density': '300' } },
  strip: { value: 'off', source: 'turned' },
  keep: { value: 'exif', source: 'turned' },
  page: { value: 'A4' },
  margin: { value: '10mm' },
  fit: { value: 'fill', beside: { '-pagesize': 'A4' } },
};
