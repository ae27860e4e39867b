import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FILES_PATH } from '../../../../functions/router/http.ts';

interface SignedUrl {
  readonly objectKey: string;
  readonly expires: string;
  readonly signature: string;
}

/** Reads the signed URL of a result. Returns `undefined` for any other URL. */
export function readSignedUrl(url: URL): SignedUrl | undefined {
  const expires = url.searchParams.get('expires');
  const signature = url.searchParams.get('signature');
  if (!url.pathname.startsWith(FILES_PATH) || expires === null || signature === null) return undefined;
  try {
    return { objectKey: decodeURIComponent(url.pathname.slice(FILES_PATH.length)), expires, signature };
  } catch {
    return undefined;
  }
}

const BYTES = 32;

/** Reads the secret that signs URLs. It is stored next to the results, so that URLs stay valid after a restart. */
export function readSecret(file: string): Buffer {
  const stored = readWhole(file);
  if (stored) return stored;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A full disk can leave an incomplete file, whose content could be guessed to sign URLs.
  rmSync(file, { force: true });
  const part = `${file}.${process.pid}`;
  try {
    writeFileSync(part, randomBytes(BYTES), { mode: 0o600 });
    // Unlike renaming, linking does not replace the secret of another server that starts at the same moment.
    linkSync(part, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(part, { force: true });
  }
  return readFileSync(file);
}

function readWhole(file: string): Buffer | undefined {
  try {
    const secret = readFileSync(file);
    return secret.length === BYTES ? secret : undefined;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}
