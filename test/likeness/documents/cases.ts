import { EDITABLE, type Editable } from '../../../functions/engines/office/outputs.ts';

/** PDF output with options that both sides support. The first is tried with every document, the others in turn. */
export const OPTION_SETS = [
  '',
  '--pdf-version=2.0',
  '--pdf-version=PDF/A-2b',
  '--pdf-version=PDF/UA',
  '--tagged',
  '--quality=30',
  '--lossless',
  '--image-dpi=75',
  '--comments',
  '--notes',
  '--hidden-slides',
  '--no-bookmarks',
  '--forms',
  '--fit=sheet',
  '--watermark=DRAFT',
] as const;

/** Formats other than PDF, tried with documents of their kind. */
export const FORMATS = Object.keys(EDITABLE) as Editable[];
