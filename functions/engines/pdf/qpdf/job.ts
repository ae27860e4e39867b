import { randomBytes } from 'node:crypto';

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

/** Entries of the document information dictionary. Absent entries stay unchanged. */
export interface Information {
  readonly Title?: string;
  readonly Author?: string;
  readonly Subject?: string;
  readonly Keywords?: string;
  readonly Creator?: string;
  readonly Producer?: string;
}

/** One rewrite of a PDF. Whatever is absent stays unchanged. */
export interface Edit {
  readonly source: string;
  readonly target: string;
  /** User or owner password of the source. */
  readonly password?: string | undefined;
  /** Pages to keep, from 1, in this order. */
  readonly pages?: readonly number[] | undefined;
  /** Degrees clockwise, added to the rotation of every page. */
  readonly rotate?: number | undefined;
  readonly encrypt?: Encryption | undefined;
  /** Removes encryption and its restrictions. */
  readonly decrypt?: boolean | undefined;
  /** Orders the file so that viewers can show page 1 before the rest has arrived. */
  readonly linearize?: boolean | undefined;
  /** Removes the metadata (XMP). */
  readonly removeMetadata?: boolean | undefined;
  /** Compresses objects. Streams stay as they are. */
  readonly compress?: boolean | undefined;
  /** Compresses streams again, as much as is possible without loss. */
  readonly recompress?: boolean | undefined;
  /** Raises the version in the file's header to at least this one. */
  readonly minVersion?: string | undefined;
  /** PDF whose pages come before those of the source. */
  readonly before?: string | undefined;
  /** PDF whose pages are drawn over those of the source, the first over the first. */
  readonly overlay?: string | undefined;
  /** PDF whose first page is drawn over every page of the source. */
  readonly stamp?: string | undefined;
  /** Quality (1 to 100) of the JPEGs that replace other images where that makes them smaller. */
  readonly imageQuality?: number | undefined;
  /** Entries to set. With `null`, the document information is removed. */
  readonly information?: Information | null | undefined;
  /** PDFs whose pages replace those of the source, in this order. The source itself is one of them. */
  readonly merge?: readonly Part[] | undefined;
  /** PDFs whose attached files are added. `prefix` comes before their names. */
  readonly attachments?: readonly AttachmentSource[] | undefined;
  /** JSON with changed objects, as `qpdf --update-from-json` reads it. */
  readonly update?: string | undefined;
  /** Makes form fields and annotations part of the pages. */
  readonly flatten?: boolean | undefined;
  /** Files to attach. */
  readonly attach?: readonly Attached[] | undefined;
  /** Writes JSON about the encryption of the source instead of a PDF. */
  readonly encryptionJson?: boolean | undefined;
  /** Writes JSON with the objects of the source, without the data of streams, instead of a PDF. */
  readonly json?: boolean | undefined;
  /** Writes JSON with these streams and their decoded data, instead of a PDF. */
  readonly streamsJson?: readonly string[] | undefined;
  /** Writes exactly this version in the file's header. Before 1.5, objects are not compressed. */
  readonly version?: string | undefined;
}

/** A file to attach to a PDF. */
export interface Attached {
  readonly file: string;
  readonly name: string;
  /** Media type. */
  readonly type: string | undefined;
}

interface AttachmentSource {
  readonly file: string;
  readonly password?: string | undefined;
  readonly prefix: string;
}

/** Pages of one of several PDFs, from 1. */
export interface Part {
  readonly file: string;
  readonly password?: string | undefined;
  readonly pages: readonly number[];
}

/** Describes an edit as qpdf's job JSON (`qpdf --job-json-help`). An empty string turns an option on. */
export function jobOf(edit: Omit<Edit, 'information' | 'update'>): object {
  const { source, target, password, pages, rotate = 0, encrypt, decrypt, linearize, compress } = edit;
  const { before, overlay, stamp, imageQuality, merge, attachments = [], attach = [] } = edit;
  const degrees = ((rotate % 360) + 360) % 360;
  return {
    inputFile: source,
    outputFile: target,
    ...(password && { password }),
    ...((pages || before) && {
      pages: [
        ...(before ? [{ file: before, range: '1-z' }] : []),
        { file: '.', range: pages ? ranges(pages) : '1-z' },
      ],
    }),
    ...(merge && { pages: merge.map((part) => partOf(part, source)) }),
    ...(attachments.length > 0 && { copyAttachmentsFrom: attachments.map(attachmentsFrom) }),
    ...(edit.flatten && { flattenAnnotations: 'all', generateAppearances: '' }),
    ...(attach.length > 0 && { addAttachment: attach.map(attachmentOf) }),
    ...(edit.encryptionJson && { json: '2', jsonKey: ['encrypt'] }),
    ...(edit.json && { jsonOutput: '2', jsonStreamData: 'none' }),
    ...(edit.streamsJson && {
      jsonOutput: '2',
      jsonStreamData: 'inline',
      decodeLevel: 'generalized',
      // An object that does not exist, because an empty list would mean all.
      jsonObject: ['0,0', ...edit.streamsJson.map((ref) => ref.replace(/^(\d+) (\d+) R$/, '$1,$2'))],
    }),
    ...(overlay && { overlay: [{ file: overlay }] }),
    ...(stamp && { overlay: [{ file: stamp, from: '1', repeat: '1' }] }),
    ...(imageQuality !== undefined && { optimizeImages: '', jpegQuality: String(imageQuality) }),
    ...(degrees !== 0 && { rotate: `+${degrees}` }),
    ...(decrypt && { decrypt: '', removeRestrictions: '' }),
    ...(encrypt && { encrypt: encryption(encrypt) }),
    ...(linearize && { linearize: '' }),
    // PDF/A requires the line break.
    ...(!edit.json && !edit.streamsJson && !edit.encryptionJson && { newlineBeforeEndstream: '' }),
    ...(edit.version !== undefined && { forceVersion: edit.version }),
    ...(compress && { objectStreams: edit.version === '1.4' ? 'disable' : 'generate' }),
    ...(edit.removeMetadata && { removeMetadata: '' }),
    ...(edit.recompress && { recompressFlate: '', compressionLevel: '9' }),
    ...(edit.minVersion !== undefined && { minVersion: edit.minVersion }),
  };
}

function partOf({ file, password, pages }: Part, source: string): object {
  return {
    file: file === source ? '.' : file,
    ...(password && file !== source && { password }),
    range: ranges(pages),
  };
}

function attachmentsFrom({ file, password, prefix }: AttachmentSource): object {
  return { file, prefix, ...(password && { password }) };
}

function attachmentOf({ file, name, type }: Attached): object {
  return { file, key: name, filename: name, replace: '', ...(type && { mimetype: type }) };
}

function encryption({ userPassword, ownerPassword = '', permissions = {} }: Encryption): object {
  const { print = 'full', modify = 'all', extract = true } = permissions;
  return {
    userPassword,
    // If it were empty or equal to the user password, the permissions would restrict nobody.
    ownerPassword: ownerPassword || randomBytes(16).toString('hex'),
    '256bit': { print, modify, extract: extract ? 'y' : 'n' },
  };
}

/** Formats page numbers for qpdf and joins consecutive ones: `1-3,7`. */
function ranges(pages: readonly number[]): string {
  const runs: Array<[first: number, last: number]> = [];
  for (const page of pages) {
    const run = runs.at(-1);
    if (run && run[1] === page - 1) run[1] = page;
    else runs.push([page, page]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}
