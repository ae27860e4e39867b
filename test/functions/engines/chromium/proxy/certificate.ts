import { generateKeyPairSync, sign } from 'node:crypto';

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
