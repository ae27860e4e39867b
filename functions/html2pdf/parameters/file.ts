import { encryptionParameters } from '../../engines/pdf/qpdf/encryption.ts';
import { flag, integer, list, parameter } from '../../shared/options/parameters.ts';
import { readPair } from './running-text.ts';

const INFORMATION = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;

function information(value: string) {
  const read = readPair(value);
  const name = INFORMATION.find((known) => known.toLowerCase() === read?.name.toLowerCase());
  return read && name ? { name, value: read.value } : undefined;
}

const VERSIONS = ['1.4', '1.5', '1.6', '1.7', '2.0'] as const;

const version = parameter(
  '--pdf-version',
  `one of ${VERSIONS.join(', ')} (PDF/A and PDF/UA are not supported)`,
  (value: string) => VERSIONS.find((known) => known === value),
  { meaning: 'minimum version of the PDF', schema: { enum: VERSIONS } },
);

const PERMISSIONS = ['print', 'copy', 'modify', 'annotate', 'fill', 'assemble', 'none'] as const;

/** Reads a comma-separated list. */
function permissions(value: string): readonly (typeof PERMISSIONS)[number][] | undefined {
  const words = value.toLowerCase().split(',');
  const read = words.map((word) => PERMISSIONS.find((known) => known === word.trim()));
  return read.every((word) => word !== undefined) ? read : undefined;
}

/** Options that change the PDF that Chromium has written. */
export const fileParameters = {
  ...encryptionParameters,
  metadata: list(
    parameter('--metadata', `name:value, where name is one of ${INFORMATION.join(', ')}`, information, {
      meaning: 'an entry of the document information. Can be given more than once',
    }),
  ),
  permissions: parameter('--permissions', `a list of ${PERMISSIONS.join(', ')}`, permissions, {
    meaning:
      'the only permitted uses of the PDF, for example `print,copy`. Overrides `--allow-print`, `--allow-modify` and `--allow-copy`',
  }),
  pdfVersion: version,
  imageQuality: integer('--image-quality', {
    min: 1,
    max: 100,
    meaning:
      'recompress images that are not JPEG yet as JPEG with this quality, if that makes them smaller. By default, images are not recompressed',
  }),
  lowQuality: flag('--lowquality', { meaning: 'the same as `--image-quality=40`' }),
} as const;
