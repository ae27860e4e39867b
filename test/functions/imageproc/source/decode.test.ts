import { describe, expect, it } from 'vitest';
import { withoutImageId } from '../../../../functions/imageproc/source/decode.ts';

/** Creates a Targa with an image ID of 5 bytes, 4 bytes of pixels, an area of 2 bytes and a footer. */
function targa(): Buffer {
  const footer = Buffer.alloc(26);
  footer.writeUInt32LE(27, 0);
  footer.write('TRUEVISION-XFILE.', 8, 'latin1');
  return Buffer.concat([Buffer.from([5]), Buffer.alloc(17), Buffer.from('imageabcdXY'), footer]);
}

describe('withoutImageId', () => {
  it('removes the ID and moves the areas that the footer names', () => {
    const result = withoutImageId(targa())!;

    expect(result[0]).toBe(0);
    expect(result.toString('latin1', 18, 24)).toBe('abcdXY');
    expect(result.readUInt32LE(24)).toBe(22);
    expect(result.readUInt32LE(28)).toBe(0);
  });

  it('returns undefined for a file without an ID', () => {
    expect(withoutImageId(Buffer.alloc(100))).toBeUndefined();
  });
});
