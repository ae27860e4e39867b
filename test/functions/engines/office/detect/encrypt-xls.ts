import { createHash } from 'node:crypto';

/** Length in bytes of the blocks of the stream that share a key. */
const BLOCK = 1024;
const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
const VERIFIER = Buffer.from('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex');
const [BOF, FILE_PASS, BOUND_SHEET] = [0x809, 0x2f, 0x85];

const md5 = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest();

function keyOf(password: Buffer, block: Buffer): Buffer {
  const mixed = Buffer.concat([md5(password).subarray(0, 5), SALT]);
  const key = md5(...Array.from({ length: 16 }, () => mixed)).subarray(0, 5);
  return md5(key, block);
}

/** Returns the body of the record that tells how the rest of a workbook is encrypted; [MS-XLS] 2.4.117. */
export function filePass(password: string): Buffer {
  const proof = Buffer.concat([VERIFIER, md5(VERIFIER)]);
  const mask = keystream(keyOf(Buffer.from(password, 'utf16le'), number(0)), proof.length);
  const encrypted = proof.map((byte, index) => byte ^ mask[index]!);
  return Buffer.concat([Buffer.from('010001000100', 'hex'), SALT, encrypted]);
}

/** Encrypts the bodies of a workbook's records with RC4, except those that tell where and how to read. */
export function encryptWorkbook(workbook: Buffer, password: string): Buffer {
  const secret = Buffer.from(password, 'utf16le');
  const blocks = Array.from({ length: Math.ceil(workbook.length / BLOCK) }, (_, block) =>
    keystream(keyOf(secret, number(block)), BLOCK),
  );
  const mask = Buffer.concat(blocks);
  const result = Buffer.from(workbook);
  for (let at = 0; at < workbook.length; ) {
    const [type, length] = [workbook.readUInt16LE(at), workbook.readUInt16LE(at + 2)];
    const [start, end] = [at + 4, at + 4 + length];
    const plain = type === BOF || type === FILE_PASS ? length : type === BOUND_SHEET ? 4 : 0;
    for (let index = start + plain; index < end; index++) result[index]! ^= mask[index]!;
    at = end;
  }
  return result;
}

function number(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

/** RC4, which OpenSSL no longer offers by default. */
function keystream(key: Buffer, length: number): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (one: number, other: number) => {
    [state[one], state[other]] = [state[other]!, state[one]!];
  };
  for (let index = 0, other = 0; index < 256; index++) {
    other = (other + state[index]! + key[index % key.length]!) & 255;
    swap(index, other);
  }
  const stream = Buffer.alloc(length);
  for (let at = 0, index = 0, other = 0; at < length; at++) {
    index = (index + 1) & 255;
    other = (other + state[index]!) & 255;
    swap(index, other);
    stream[at] = state[(state[index]! + state[other]!) & 255]!;
  }
  return stream;
}
