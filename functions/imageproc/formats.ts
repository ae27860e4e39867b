import type { Format } from '../shared/formats.ts';

/** Something that a format can contain, or a setting that has an effect on it. */
type Trait =
  | 'alpha'
  | 'frames'
  | 'animation'
  | 'metadata'
  | 'resolution'
  | 'quality'
  | 'interlace'
  | 'type'
  | 'depth'
  | 'cmyk';

interface Facts {
  /** Writes it: sharp, also while it decodes the source (`pipeline`), ImageMagick, or the writer of PDFs. */
  readonly encoder: 'pipeline' | 'sharp' | 'magick' | 'pdf';
  /** Prefix of the `-define` options for its encoder. */
  readonly defines?: string;
  readonly has: readonly Trait[];
}

const FORMATS = {
  jpg: {
    encoder: 'pipeline',
    defines: 'jpeg',
    has: ['metadata', 'resolution', 'quality', 'interlace', 'type', 'cmyk'],
  },
  png: {
    encoder: 'sharp',
    defines: 'png',
    has: ['alpha', 'metadata', 'resolution', 'quality', 'interlace', 'type', 'depth'],
  },
  webp: {
    encoder: 'pipeline',
    defines: 'webp',
    has: ['alpha', 'frames', 'animation', 'metadata', 'quality', 'type'],
  },
  avif: { encoder: 'pipeline', defines: 'heic', has: ['alpha', 'metadata', 'quality'] },
  gif: { encoder: 'sharp', has: ['alpha', 'frames', 'animation', 'interlace', 'type'] },
  tiff: {
    encoder: 'magick',
    defines: 'tiff',
    has: ['alpha', 'frames', 'metadata', 'resolution', 'type', 'depth', 'cmyk'],
  },
  bmp: { encoder: 'magick', has: ['alpha', 'resolution', 'type'] },
  ico: { encoder: 'magick', has: ['alpha'] },
  pdf: { encoder: 'pdf', has: ['alpha', 'frames', 'resolution', 'quality'] },
} as const satisfies Partial<Record<Format, Facts>>;

type Formats = typeof FORMATS;
type WrittenBy<Encoder> = {
  [Name in keyof Formats]: Formats[Name]['encoder'] extends Encoder ? Name : never;
}[keyof Formats];

type With<Wanted extends Trait> = {
  [Name in keyof Formats]: Wanted extends Formats[Name]['has'][number] ? Name : never;
}[keyof Formats];

/** Formats that imageproc writes. */
export type ImageFormat = keyof Formats;
export type PipelineFormat = WrittenBy<'pipeline'>;
export type SharpFormat = WrittenBy<'pipeline' | 'sharp'>;

export const IMAGE_FORMATS = Object.keys(FORMATS) as ImageFormat[];

export function has<Wanted extends Trait>(format: ImageFormat, trait: Wanted): format is With<Wanted> {
  return (FORMATS[format].has as readonly Trait[]).includes(trait);
}

export function formatsWith(trait: Trait): readonly ImageFormat[] {
  return IMAGE_FORMATS.filter((format) => has(format, trait));
}

/** Returns the format whose encoder has `-define` options with this prefix. */
export function formatDefinedBy(prefix: string): ImageFormat | undefined {
  return IMAGE_FORMATS.find((format) => (FORMATS[format] as Facts).defines === prefix);
}

export function isPipelineFormat(format: ImageFormat): format is PipelineFormat {
  return FORMATS[format].encoder === 'pipeline';
}

export function isSharpFormat(format: ImageFormat): format is SharpFormat {
  return isPipelineFormat(format) || FORMATS[format].encoder === 'sharp';
}
