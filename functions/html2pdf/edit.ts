import { readStandard } from '../engines/pdf/graph/archive/standards.ts';
import { encryptionOf } from '../engines/pdf/qpdf/encryption.ts';
import type { Edit, Permissions } from '../engines/pdf/qpdf/qpdf.ts';
import type { Html2pdfOptions } from './options.ts';

/** JPEG quality of `--lowquality`. */
const LOW_QUALITY = 40;

/** Returns the changes to the PDF that Chromium wrote, or `undefined` if there are none. */
export function editOf(options: Html2pdfOptions): Omit<Edit, 'source' | 'target'> | undefined {
  const { metadata, pdfVersion, imageQuality, lowQuality } = options;
  const encrypt = encryptionOf(options, permissionsOf(options));
  const quality = imageQuality ?? (lowQuality ? LOW_QUALITY : undefined);
  const edit = {
    ...(encrypt && { encrypt }),
    ...(metadata.length > 0 && {
      information: Object.fromEntries(metadata.map(({ name, value }) => [name, value])),
    }),
    ...(pdfVersion !== undefined && !readStandard(pdfVersion) && { minVersion: pdfVersion }),
    ...(quality !== undefined && { imageQuality: quality }),
  };
  return Object.keys(edit).length === 0 ? undefined : edit;
}

/** Returns the permissions of `--permissions`, or `undefined` if the individual options decide. */
function permissionsOf({ permissions }: Html2pdfOptions): Required<Permissions> | undefined {
  if (!permissions) return undefined;
  const has = (word: (typeof permissions)[number]) => permissions.includes(word);
  return {
    print: has('print') ? 'full' : 'none',
    modify: has('modify')
      ? 'all'
      : has('annotate')
        ? 'annotate'
        : has('fill')
          ? 'form'
          : has('assemble')
            ? 'assembly'
            : 'none',
    extract: has('copy'),
  };
}
