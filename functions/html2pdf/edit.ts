import type { Edit, Permissions } from '../shared/qpdf/qpdf.ts';
import type { Html2pdfOptions } from './tool.ts';

/** JPEG quality of `--lowquality`. */
const LOW_QUALITY = 40;

/** Returns what must be changed in the PDF that Chromium wrote, or `undefined` if nothing. */
export function editOf(options: Html2pdfOptions): Omit<Edit, 'source' | 'target'> | undefined {
  const {
    encrypt: userPassword = '',
    ownerPassword,
    metadata,
    pdfVersion,
    imageQuality,
    lowQuality,
  } = options;
  const permissions = permissionsOf(options);
  const isRestricted = permissions.print !== 'full' || permissions.modify !== 'all' || !permissions.extract;
  const isEncrypted = userPassword !== '' || ownerPassword !== undefined || isRestricted;
  const quality = imageQuality ?? (lowQuality ? LOW_QUALITY : undefined);
  const edit = {
    ...(isEncrypted && {
      encrypt: { userPassword, ...(ownerPassword !== undefined && { ownerPassword }), permissions },
    }),
    ...(metadata.length > 0 && {
      information: Object.fromEntries(metadata.map(({ name, value }) => [name, value])),
    }),
    ...(pdfVersion !== undefined && { minVersion: pdfVersion }),
    ...(quality !== undefined && { imageQuality: quality }),
  };
  return Object.keys(edit).length === 0 ? undefined : edit;
}

function permissionsOf({ permissions, print, modify, copy }: Html2pdfOptions): Permissions {
  if (!permissions) return { print, modify, extract: copy };
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
