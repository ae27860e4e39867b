import type { Edit } from '../shared/qpdf/qpdf.ts';
import type { Doc2anyOptions } from './libreoffice/export-options.ts';

/** Returns the encryption that the options request, or `undefined` if the PDF is not encrypted. */
export function encryption(options: Doc2anyOptions): Edit['encrypt'] {
  const { encrypt: userPassword = '', ownerPassword, print, modify, copy: extract } = options;
  const isRestricted = print !== 'full' || modify !== 'all' || !extract;
  if (userPassword === '' && ownerPassword === undefined && !isRestricted) return undefined;
  const permissions = { print, modify, extract };
  return { userPassword, ...(ownerPassword !== undefined && { ownerPassword }), permissions };
}
