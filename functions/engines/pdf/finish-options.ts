import { ConversionError } from '../../shared/errors.ts';
import { choice, flag, text, type ValuesOf } from '../../shared/options/option.ts';

/** Rights of a reader with the user password. All rights are granted unless restricted. */
export interface Permissions {
  readonly print?: 'full' | 'low' | 'none';
  /** `all`; `annotate`: comments and form fields; `form`: form fields; `assembly`: pages only; `none`. */
  readonly modify?: 'all' | 'annotate' | 'form' | 'assembly' | 'none';
  /** Whether text and images may be copied. */
  readonly extract?: boolean;
}

/** AES-256 encryption as defined by PDF 2.0, which readers from 2009 on open. */
export interface Encryption {
  /** Opens the document. If empty, anyone can open it, within the permissions. */
  readonly userPassword: string;
  /** Removes the restrictions. If empty, a random password is used, so that nobody can remove them. */
  readonly ownerPassword?: string;
  readonly permissions?: Permissions;
}

/** The length of a PDF's password. AES-256 ignores all bytes after the first 127. */
export const PASSWORD = { max: 127, unit: 'bytes' } as const;

const SCOPE = { outputs: ['pdf'], protects: true } as const;

/** Returns the options that encrypt a PDF, with the names that a tool gives them. */
export function encryptionOptionsWith(namesOf: (name: string) => readonly string[]) {
  return {
    encrypt: text(namesOf('encrypt'), {
      ...PASSWORD,
      ...SCOPE,
      description: 'Require this password to open the PDF. Encrypts with AES-256',
    }),
    ownerPassword: text(namesOf('owner-password'), {
      ...PASSWORD,
      ...SCOPE,
      description: 'Require this password to remove the restrictions of the PDF. By default, a random one',
    }),
    print: choice(namesOf('allow-print'), ['full', 'low', 'none'], {
      default: 'full' as const,
      ...SCOPE,
      description: 'Allow printing in full quality, only in low resolution, or not at all',
    }),
    modify: choice(namesOf('allow-modify'), ['all', 'annotate', 'form', 'assembly', 'none'], {
      default: 'all' as const,
      ...SCOPE,
      description:
        'Allow changes. `assembly` allows inserting, deleting and rotating pages, `form` also filling in forms, `annotate` also comments, and `all` everything',
    }),
    copy: flag([...namesOf('allow-copy'), ...namesOf('copy')], {
      default: true,
      off: namesOf('no-copy'),
      ...SCOPE,
      description: 'Allow copying text and images',
    }),
  } as const;
}

/** The options that encrypt a PDF, for every tool that writes PDFs. */
export const encryptionOptions = encryptionOptionsWith((name) => [`--${name}`]);

type EncryptionOptions = ValuesOf<typeof encryptionOptions>;

/** The standards for archives (ISO 19005) that a PDF can be made to follow. */
export const STANDARDS = ['PDF/A-1b', 'PDF/A-2b', 'PDF/A-2u', 'PDF/A-3b', 'PDF/A-3u', 'PDF/A-4'] as const;
/** The standard for accessible documents (ISO 14289). */
export const ACCESSIBLE = 'PDF/UA-1';
export type Standard = (typeof STANDARDS)[number] | typeof ACCESSIBLE;

/** Returns the standard that a value of `--pdf-version` names, if it is one. */
export function readStandard(value: string | undefined): Standard | undefined {
  if (value === 'PDF/UA') return ACCESSIBLE;
  return [...STANDARDS, ACCESSIBLE].find((known): known is Standard => known === value);
}

/** Yields an error if everyone who can open the PDF could remove its restrictions, and if a PDF for archives is encrypted. */
export function* checkFinish(
  options: EncryptionOptions & { readonly pdfVersion: string | undefined },
  encryption = encryptionOf(options),
): Generator<ConversionError> {
  const { encrypt, ownerPassword, pdfVersion } = options;
  if (ownerPassword !== undefined && ownerPassword === encrypt) {
    const message = "Parameter '--owner-password' must differ from '--encrypt'.";
    yield new ConversionError('BAD_PARAMETER', message, { parameter: '--owner-password' });
  }
  if (!encryption || !pdfVersion?.startsWith('PDF/A')) return;
  const message = `Parameter '--pdf-version=${pdfVersion}' cannot be combined with encryption, which PDF/A does not allow.`;
  yield new ConversionError('BAD_PARAMETER', message, { parameter: '--pdf-version' });
}

/** Returns the encryption that the options request, or `undefined` if the PDF is not encrypted. */
export function encryptionOf(
  { encrypt: userPassword = '', ownerPassword, print, modify, copy: extract }: EncryptionOptions,
  permissions: Required<Permissions> = { print, modify, extract },
): Encryption | undefined {
  const isRestricted = permissions.print !== 'full' || permissions.modify !== 'all' || !permissions.extract;
  if (userPassword === '' && ownerPassword === undefined && !isRestricted) return undefined;
  return { userPassword, ...(ownerPassword !== undefined && { ownerPassword }), permissions };
}
