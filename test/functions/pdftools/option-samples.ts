import type { toolboxOptions } from '../../../functions/engines/pdf/toolbox/options.ts';
import type { pdftools } from '../../../functions/pdftools/tool.ts';
import type { Samples } from '../option-effects.ts';

/** Options that `toolbox.engine.test.ts` tests. */
type Toolbox = keyof typeof toolboxOptions;
type Writing =
  | 'attachments'
  | 'optimize'
  | 'linearize'
  | 'encrypt'
  | 'sign'
  | 'signReason'
  | 'signPlace'
  | 'newOwnerPassword'
  | 'print'
  | 'modify'
  | 'copy';

/** A value for each option. The sources are those of `convert.option-effects.engine.test.ts`. */
export const SAMPLES: Samples<typeof pdftools, 'watermark' | 'rotate' | 'split' | Toolbox | Writing> = {
  firstPage: { value: '2' },
  lastPage: { value: '2' },
  pages: { value: '3,1' },
  odd: { value: 'on' },
  even: { value: 'on' },
  userPassword: { value: 'secret', source: 'locked' },
  ownerPassword: { value: 'secret', source: 'locked' },
  resolution: { value: '40' },
  xResolution: { value: '40' },
  yResolution: { value: '40' },
  width: { value: '99' },
  resize: { value: '50%' },
  height: { value: '99' },
  scaleToX: { value: '99' },
  scaleToY: { value: '99' },
  longSide: { value: '99' },
  cropBox: { value: 'off' },
  left: { value: '40' },
  top: { value: '40' },
  cropWidth: { value: '300' },
  cropHeight: { value: '300' },
  trim: { value: 'on' },
  rotations: { value: '90' },
  gray: { value: 'on' },
  mono: { value: 'on' },
  transparent: { value: 'on' },
  hideAnnotations: { value: 'on' },
  layout: { value: 'on' },
  outputEncoding: { value: 'utf-8-bom' },
  quality: { value: '20' },
};
