import { choice, flag, type Parameter, text } from '../../../shared/options/parameters.ts';
import type { Encryption, Permissions } from './job.ts';

/** AES-256 uses at most 127 bytes of a password. */
const PASSWORD = { max: 127 } as const;

/** The options that encrypt a PDF, for every tool that writes one. */
export const encryptionParameters = {
  encrypt: text('--encrypt', { ...PASSWORD, meaning: 'password to open the PDF (AES-256)' }),
  ownerPassword: text('--owner-password', {
    ...PASSWORD,
    meaning: 'password that removes the restrictions of the PDF (random by default)',
  }),
  print: choice('--allow-print', ['full', 'low', 'none'], {
    default: 'full' as const,
    meaning: 'printing: in full quality, in low resolution, or not at all',
  }),
  modify: choice('--allow-modify', ['all', 'annotate', 'form', 'assembly', 'none'], {
    default: 'all' as const,
    meaning: 'changes to the PDF: all, comments and forms, forms, page order, or none',
  }),
  copy: flag(['--allow-copy', '--copy'], {
    default: true,
    off: '--no-copy',
    meaning: 'copying text and images from the PDF',
  }),
} as const;

type EncryptionOptions = {
  readonly [Name in keyof typeof encryptionParameters]: (typeof encryptionParameters)[Name] extends Parameter<
    infer Value
  >
    ? Value
    : never;
};

/** Returns the encryption that the options request, or `undefined` if the PDF is not encrypted. */
export function encryptionOf(
  { encrypt: userPassword = '', ownerPassword, print, modify, copy: extract }: EncryptionOptions,
  permissions: Required<Permissions> = { print, modify, extract },
): Encryption | undefined {
  const isRestricted = permissions.print !== 'full' || permissions.modify !== 'all' || !permissions.extract;
  if (userPassword === '' && ownerPassword === undefined && !isRestricted) return undefined;
  return { userPassword, ...(ownerPassword !== undefined && { ownerPassword }), permissions };
}
