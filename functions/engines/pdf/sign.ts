import { createHash, createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  Certificate,
  ContentInfo,
  CryptoEngine,
  EncapsulatedContentInfo,
  IssuerAndSerialNumber,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
  setEngine,
} from 'pkijs';
import { isIpAccount } from '../../platform/accounts.ts';
import { ConversionError } from '../../shared/errors.ts';
import type { Pdf } from './pdf.ts';

setEngine('node', new CryptoEngine({ name: 'node', crypto: webcrypto }));

const [DATA, CONTENT_TYPE, MESSAGE_DIGEST, SIGNING_CERTIFICATE] = [
  '1.2.840.113549.1.7.1',
  '1.2.840.113549.1.9.3',
  '1.2.840.113549.1.9.4',
  '1.2.840.113549.1.9.16.2.47',
] as const;
const COMMON_NAME = '2.5.4.3';
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/** A private key and its certificate chain, leaf first. */
interface Identity {
  readonly key: Buffer;
  readonly certificates: readonly Certificate[];
  /** Common name of the signer. */
  readonly name?: string | undefined;
}

/** Texts that readers show with the signature. */
interface Signing {
  readonly reason: string | undefined;
  readonly place: string | undefined;
}

/**
 * Reads one of the operator's keys: the key is in `NAME.p12`, its passphrase in `NAME.txt`, and the accounts that may use it
 * are in `NAME.accounts`, one a line. `*` means every account with an API key.
 * @throws ConversionError `BAD_PARAMETER` if there is no such signer, or only for other accounts.
 */
export async function readIdentity(
  folder: string | undefined,
  name: string,
  account: string,
): Promise<Identity> {
  const file = (extension: string) => join(folder ?? '', `${name}.${extension}`);
  const list = folder === undefined ? '' : await readFile(file('accounts'), 'utf8').catch(() => '');
  const accounts = list.split(/\s+/);
  const isAllowed = accounts.includes(account) || accounts.includes('*');
  if (!isAllowed || isIpAccount(account)) {
    const message = `Parameter '-sign': this account has no signer '${name}'.`;
    throw new ConversionError('BAD_PARAMETER', message, { parameter: '-sign' });
  }
  const passphrase = await readFile(file('txt'), 'utf8');
  return readPkcs12(await readFile(file('p12')), passphrase.trim());
}

/**
 * Signs a finished PDF without rewriting it, and returns the signed one. The process of the service makes the
 * signature, because it must not give a key to a process that reads documents.
 */
export async function signPdf(pdf: Pdf, identity: Identity, { reason, place }: Signing): Promise<Pdf> {
  const date = `D:${new Date().toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  const text = { name: identity.name, reason, place, date };
  const { target: added, reply } = await pdf.write('prepareSignature', { text }, { source: pdf.path });
  if ('problem' in reply)
    throw new ConversionError('CONVERSION_FAILED', reply.problem, { parameter: '-sign' });
  const { at, end } = reply;
  const signed = await pdf.append(added);
  const target = signed.path;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(target, { end: at - 1 })) hash.update(chunk as Buffer);
  for await (const chunk of createReadStream(target, { start: end })) hash.update(chunk as Buffer);
  const signature = (await signDigest(hash.digest(), identity)).toString('hex');
  if (signature.length > end - at - 2) throw new Error('The certificates of the signer are too large.');
  const handle = await open(target, 'r+');
  try {
    await handle.write(signature, at + 1, 'latin1');
  } finally {
    await handle.close();
  }
  return signed;
}

/** Reads a PKCS#12 file that is encrypted with AES, as OpenSSL 3 does. */
async function readPkcs12(bytes: Buffer, passphrase: string): Promise<Identity> {
  const password = bufferOf(Buffer.from(passphrase));
  const file = PFX.fromBER(bufferOf(bytes));
  await file.parseInternalValues({ password, checkIntegrity: true });
  const safe = file.parsedValue?.authenticatedSafe;
  if (!(safe instanceof AuthenticatedSafe)) throw new Error('The file has no content.');
  const isEncrypted = ({ contentType }: ContentInfo) => contentType === ContentInfo.ENCRYPTED_DATA;
  await safe.parseInternalValues({
    safeContents: safe.safeContents.map((each) => (isEncrypted(each) ? { password } : {})),
  });
  let key: PrivateKeyInfo | undefined;
  const found: Certificate[] = [];
  for (const { value } of safe.parsedValue.safeContents) {
    for (const { bagValue } of value.safeBags) {
      if (bagValue instanceof PKCS8ShroudedKeyBag) {
        await (
          bagValue as unknown as { parseInternalValues(p: { password: ArrayBuffer }): Promise<void> }
        ).parseInternalValues({ password });
        key = bagValue.parsedValue;
      } else if (bagValue instanceof PrivateKeyInfo) key = bagValue;
      else if (bagValue instanceof CertBag && bagValue.parsedValue instanceof Certificate)
        found.push(bagValue.parsedValue);
    }
  }
  if (!key) throw new Error('The file has no private key.');
  const der = Buffer.from(key.toSchema().toBER());
  const own = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'der',
    type: 'spki',
  });
  const isOwn = (each: Certificate) => own.equals(Buffer.from(each.subjectPublicKeyInfo.toSchema().toBER()));
  if (!found.some(isOwn)) throw new Error('The file has no certificate of its private key.');
  const certificates = found.toSorted((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  const name = certificates[0]!.subject.typesAndValues.find(({ type }) => type === COMMON_NAME)?.value;
  return { key: der, certificates, name: name?.valueBlock.value };
}

/** Returns a signature (RFC 5652 with the attributes of CAdES) for content with this SHA-256 digest. */
async function signDigest(digest: Buffer, { key, certificates }: Identity): Promise<Buffer> {
  const [certificate] = certificates as [Certificate];
  const own = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const curve = CURVES[own.asymmetricKeyDetails?.namedCurve ?? ''];
  const algorithm = curve
    ? { name: 'ECDSA', namedCurve: curve }
    : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const signingKey = await webcrypto.subtle.importKey('pkcs8', key, algorithm, false, ['sign']);
  const fingerprint = createHash('sha256')
    .update(Buffer.from(certificate.toSchema(true).toBER()))
    .digest();
  const nested = (value: OctetString) =>
    new Sequence({ value: [new Sequence({ value: [new Sequence({ value: [value] })] })] });
  const octets = (bytes: Buffer) => new OctetString({ valueHex: bufferOf(bytes) });
  const attributes = [
    new Attribute({ type: CONTENT_TYPE, values: [new ObjectIdentifier({ value: DATA })] }),
    new Attribute({ type: MESSAGE_DIGEST, values: [octets(digest)] }),
    new Attribute({ type: SIGNING_CERTIFICATE, values: [nested(octets(fingerprint))] }),
  ];
  const { issuer, serialNumber } = certificate;
  const signer = new SignerInfo({
    version: 1,
    sid: new IssuerAndSerialNumber({ issuer, serialNumber }),
    signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes }),
  });
  const encapContentInfo = new EncapsulatedContentInfo({ eContentType: DATA });
  const signed = new SignedData({
    version: 1,
    encapContentInfo,
    signerInfos: [signer],
    certificates: [...certificates],
  });
  await signed.sign(signingKey, 0, 'SHA-256');
  const content = signed.toSchema(true);
  return Buffer.from(new ContentInfo({ contentType: ContentInfo.SIGNED_DATA, content }).toSchema().toBER());
}

function bufferOf(bytes: Buffer): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}
