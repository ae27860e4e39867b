import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, copyFile, open, readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { ConversionError } from '../../../shared/errors.ts';
import type { EngineDependencies } from '../../../shared/tool.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import type { PreparedSignature } from '../graph/operations.ts';
import type { PdfPrograms } from '../pdf.ts';

/** Texts that readers show with the signature. */
interface Signing {
  readonly reason: string | undefined;
  readonly place: string | undefined;
}

/** The identity that signs; see `readPkcs12`. */
type Identity = Awaited<ReturnType<typeof import('./cms.ts')['readPkcs12']>>;

/**
 * Signs finished PDFs with the operator's keys. The process of the service makes the signature, because it must not
 * give a key to a process that reads documents.
 */
export function createSigner(
  { findSigner }: Pick<EngineDependencies, 'findSigner'>,
  { qpdf, graphs }: PdfPrograms,
) {
  /** @throws ConversionError `BAD_PARAMETER` if there is no such signer, or another account has it. */
  async function read(signer: string, account: string): Promise<Identity> {
    const found = await findSigner?.(signer, account);
    if (!found) {
      const message = `Parameter '-sign': this account has no signer '${signer}'.`;
      throw new ConversionError('BAD_PARAMETER', message, { parameter: '-sign' });
    }
    // Only calls that sign need the library.
    const { readPkcs12 } = await import('./cms.ts');
    return readPkcs12(found.pkcs12, found.passphrase);
  }

  /** Signs a PDF without rewriting it, and returns the path of the signed one. */
  async function sign(
    source: string,
    identity: Identity,
    { reason, place }: Signing,
    request: WorkerRequest,
  ): Promise<string> {
    const [graph, added, target] = ['.json', '-added', '.pdf'].map(
      (suffix) => `${source}-signed${suffix}`,
    ) as [string, string, string];
    const name = (path: string) => relative(request.directory, path);
    await qpdf.edit({ source, target: graph, json: true }, request);
    const date = `D:${new Date().toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
    const args = {
      graph: name(graph),
      source: name(source),
      target: name(added),
      text: { name: identity.name, reason, place, date },
    };
    const files = { inputs: [graph, source], outputs: [added] };
    const prepared = await graphs.run<PreparedSignature | { problem: string }>(
      'prepareSignature',
      args,
      files,
      request,
    );
    if ('problem' in prepared)
      throw new ConversionError('CONVERSION_FAILED', prepared.problem, { parameter: '-sign' });
    const { at, end } = prepared;
    await copyFile(source, target);
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

  return { read, sign };
}
