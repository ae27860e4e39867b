import sharp from 'sharp';

/**
 * Returns a video of one frame in one color. A lossy WebP image is the key frame of a VP8 video, so only the
 * container is written here.
 */
export async function oneFrameVideo(color: string, width: number, height: number): Promise<Buffer> {
  const image = await sharp({ create: { width, height, channels: 3, background: color } })
    .webp()
    .toBuffer();
  const frame = image.subarray(image.indexOf('VP8 ') + 8);
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm')), number('4287', 2), number('4285', 2)),
    element(
      '18538067',
      element('1549a966', number('2ad7b1', 1_000_000), element('4489', double(1000))),
      element(
        '1654ae6b',
        element(
          'ae',
          ...[number('d7', 1), number('73c5', 1), number('83', 1), element('86', Buffer.from('V_VP8'))],
          element('e0', number('b0', width), number('ba', height)),
        ),
      ),
      // Track 1, at 0 ms, a key frame.
      element('1f43b675', number('e7', 0), element('a3', Buffer.from('81000080', 'hex'), frame)),
    ),
  ]);
}

/** An element of EBML (RFC 8794), its size in eight bytes. */
function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

function number(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return element(id, bytes);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
