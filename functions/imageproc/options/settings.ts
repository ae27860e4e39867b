import { choice, flag, number } from '../../shared/options/parameters.ts';
import { color } from './color.ts';
import { fontName } from './font.ts';
import { placement } from './overlay.ts';
import { brightness } from './readers.ts';

const GRAVITIES = [
  'NorthWest',
  'North',
  'NorthEast',
  'West',
  'Center',
  'East',
  'SouthWest',
  'South',
  'SouthEast',
  'Attention',
  'Entropy',
] as const;

const BLEND_MODES = [
  'Over',
  'Multiply',
  'Screen',
  'Overlay',
  'Darken',
  'Lighten',
  'ColorDodge',
  'ColorBurn',
  'HardLight',
  'SoftLight',
  'Difference',
  'Exclusion',
  'Plus',
] as const;

/** What operators use. A setting that is given once applies to all of them, wherever it is in the query. */
export const SETTINGS = {
  gravity: choice('-gravity', GRAVITIES, {
    meaning:
      'where `-crop`, `-extent`, `-annotate`, `-composite` and `-append` align; `Attention` and `Entropy` find the interesting part of the image for `-crop` and `-extent`',
  }),
  background: color('-background', {
    default: 'white',
    meaning: 'color of new areas and behind transparency',
  }),
  borderColor: color('-bordercolor', { default: '#dfdfdf', meaning: 'color of `-border`' }),
  fill: color('-fill', { default: 'black', meaning: 'color of `-annotate` and `-tint`' }),
  stroke: color('-stroke', { default: 'none', meaning: 'outline color of `-annotate`' }),
  strokeWidth: number('-strokewidth', { min: 0, max: 100, default: 1, meaning: 'outline width in pixels' }),
  font: fontName('-font', { default: 'Helvetica', meaning: 'font of `-annotate`' }),
  pointSize: number('-pointsize', { min: 1, max: 2000, default: 12, meaning: 'font size in pixels' }),
  geometry: placement('-geometry', { meaning: 'size and offset of the image that `-composite` draws' }),
  compose: choice('-compose', BLEND_MODES, { default: 'Over', meaning: 'blend mode of `-composite`' }),
  dissolve: number('-dissolve', {
    min: 0,
    max: 100,
    default: 100,
    meaning: 'opacity of `-composite` in percent',
  }),
  fuzz: brightness('-fuzz', {
    default: 0,
    meaning: 'how much colors may differ for `-trim` and `-transparent`',
  }),
  dither: flag('-dither', {
    default: true,
    off: ['+dither', ' dither'],
    meaning: 'dithers `-colors` and `-posterize`',
  }),
} as const;
