import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { list } from '../helpers/list.ts';

const LAYERS = join(import.meta.dirname, '../../dist/layers');
/** Every program that is compiled from this project's C. */
const PROGRAMS = list`
  sandbox/enter, sandbox/launch, chromium/enter, pdf/program/pdfium, pdf/program/qpdf, libreoffice/program/host
`;

// elf.h
const [DYNAMIC, STACK, RELRO] = [2, 0x6474e551, 0x6474e552];
const [FLAGS_1, NOW, PIE] = [0x6ffffffbn, 0x1n, 0x08000000n];
const EXECUTE = 1;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly content: Buffer;
}

function segmentsOf(file: Buffer): Segment[] {
  const [start, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ];
  return Array.from({ length: count }, (_, index) => {
    const header = file.subarray(start + index * size);
    const offset = Number(header.readBigUInt64LE(8));
    const content = file.subarray(offset, offset + Number(header.readBigUInt64LE(32)));
    return { type: header.readUInt32LE(0), flags: header.readUInt32LE(4), content };
  });
}

/** Returns the value of an entry of the dynamic section, or 0. */
function dynamicEntry(segments: readonly Segment[], tag: bigint): bigint {
  const { content } = segments.find(({ type }) => type === DYNAMIC)!;
  for (let at = 0; at < content.length; at += 16) {
    if (content.readBigUInt64LE(at) === tag) return content.readBigUInt64LE(at + 8);
  }
  return 0n;
}

it.each(PROGRAMS)('%s is hardened', (name) => {
  const file = readFileSync(join(LAYERS, name));
  const segments = segmentsOf(file);

  const stack = segments.find(({ type }) => type === STACK);
  expect(stack && stack.flags & EXECUTE).toBe(0);
  expect(segments.some(({ type }) => type === RELRO)).toBe(true);
  const flags = dynamicEntry(segments, FLAGS_1);
  expect([flags & NOW, flags & PIE]).toEqual([NOW, PIE]);
  // The functions that check the stack and the bounds of a buffer.
  if (!name.endsWith('launch')) expect(file.includes('__stack_chk_fail')).toBe(true);
  if (name.startsWith('pdf')) expect(file.includes('printf_chk')).toBe(true);
});
