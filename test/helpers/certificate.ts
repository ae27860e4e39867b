import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const RSA_WITH_SHA256 = '06092a864886f70d01010b0500';
const COMMON_NAME = '0603550403';

/** Creates a self-signed certificate for a name (X.509 v1, written by hand) with its private key. */
export function selfSigned(name: string, type: 'ec' | 'rsa' = 'ec'): { cert: string; key: string } {
  const { publicKey, privateKey } =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = der(0x30, hex(type === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256));
  const subject = der(0x30, der(0x31, der(0x30, hex(COMMON_NAME), der(0x0c, Buffer.from(name)))));
  const content = der(
    0x30,
    der(0x02, Buffer.from([1])),
    algorithm,
    subject,
    der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = der(0x30, content, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Creates a chain of certificates in which each is signed with a key on the curve that takes longest to verify. */
export function slowChain(length: number): { cert: string; key: string } {
  const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
  const nameOf = (index: number) =>
    der(0x30, der(0x31, der(0x30, hex(COMMON_NAME), der(0x0c, Buffer.from(`c${index}`)))));
  const algorithm = der(0x30, hex(ECDSA_WITH_SHA256));
  const valid = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = generateKeyPairSync('ec', { namedCurve: 'sect571r1' });
  const certificates = Array.from({ length }, (_, index) => {
    const subject = index === 0 ? leaf.publicKey : issuer.publicKey;
    // The last one is signed by itself.
    const signedBy = nameOf(Math.min(index + 1, length - 1));
    const serial = der(0x02, Buffer.from([index + 1]));
    const content = der(0x30, serial, algorithm, signedBy, valid, nameOf(index), spki(subject));
    const signature = sign('sha256', content, issuer.privateKey);
    return der(0x30, content, algorithm, der(0x03, Buffer.from([0]), signature));
  });
  const cert = certificates
    .map((each) => `-----BEGIN CERTIFICATE-----\n${each.toString('base64')}\n-----END CERTIFICATE-----\n`)
    .join('');
  return { cert, key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Encodes a value of ASN.1 (X.690). */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
