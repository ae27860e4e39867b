import type { Edit } from '../shared/qpdf/qpdf.ts';
import type { Html2pdfOptions } from './tool.ts';

/** Returns what must be changed in the PDF that Chromium wrote, or `undefined` if nothing. */
export function editOf(options: Html2pdfOptions): Pick<Edit, 'encrypt' | 'information'> | undefined {
  const { encrypt: userPassword = '', ownerPassword, print, modify, copy: extract, metadata } = options;
  const isRestricted = print !== 'full' || modify !== 'all' || !extract;
  const isEncrypted = userPassword !== '' || ownerPassword !== undefined || isRestricted;
  if (!isEncrypted && metadata.length === 0) return undefined;
  return {
    ...(isEncrypted && {
      encrypt: {
        userPassword,
        ...(ownerPassword !== undefined && { ownerPassword }),
        permissions: { print, modify, extract },
      },
    }),
    ...(metadata.length > 0 && {
      information: Object.fromEntries(metadata.map(({ name, value }) => [name, value])),
    }),
  };
}
