import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, copyFile, open, readFile } from 'node:fs/promises';
import { ConversionError } from '../../../shared/errors.ts';
import type { FindSigner } from '../../../shared/tool.ts';
import type { Pdf } from '../pdf.ts';

/** Texts that readers show with the signature. */
interface Signing {
  readonly reason: string | undefined;
  readonly place: string | undefined;
}

/** The identity that signs; see `readPkcs12`. */
type Identity = Awaited<ReturnType<typeof import('./cms.ts')['readPkcs12']>>;

/**
 * Reads one of the operator's keys.
 * @throws ConversionError `BAD_PARAMETER` if there is no such signer, or another account has it.
 */
export async function readIdentity(
  findSigner: FindSigner | undefined,
  signer: string,
  account: string,
): Promise<Identity> {
  const found = await findSigner?.(signer, account);
  if (!found) {
    const message = `Parameter '-sign': this account has no signer '${signer}'.`;
    throw new ConversionError('BAD_PARAMETER', message, { parameter: '-sign' });
  }
  // Only calls that sign need the library.
  const { readPkcs12 } = await import('./cms.ts');
  return readPkcs12(found.pkcs12, found.passphrase);
}

/**
 * Signs a finished PDF without rewriting it, and returns the path of the signed one. The process of the service makes the
 * signature, because it must not give a key to a process that reads documents.
 */
export async function signPdf(pdf: Pdf, identity: Identity, { reason, place }: Signing): Promise<string> {
  const date = `D:${new Date().toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  const text = { name: identity.name, reason, place, date };
  const { target: added, reply } = await pdf.write('prepareSignature', { text }, { source: pdf.path });
  if ('problem' in reply)
    throw new ConversionError('CONVERSION_FAILED', reply.problem, { parameter: '-sign' });
  const { at, end } = reply;
  const target = `${pdf.path}-signed.pdf`;
  await copyFile(pdf.path, target);
  await appendFile(target, await readFile(added));
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(target, { end: at - 1 })) hash.update(chunk as Buffer);
  for await (const chunk of createReadStream(target, { start: end })) hash.update(chunk as Buffer);
  const { signDigest } = await import('./cms.ts');
  const signature = (await signDigest(hash.digest(), identity)).toString('hex');
  if (signature.length > end - at - 2) throw new Error('The certificates of the signer are too large.');
  const handle = await open(target, 'r+');
  try {
    await handle.write(signature, at + 1, 'latin1');
  } finally {
    await handle.close();
  }
  return target;
}
