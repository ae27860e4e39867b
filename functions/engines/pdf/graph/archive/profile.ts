/** The curve of sRGB (IEC 61966-2-1) has this number of steps in the profile. */
const STEPS = 1024;
/** White and the primaries of sRGB, adapted to the white of D50 as profiles require. */
const COLORANTS = {
  wtpt: [0.9642, 1, 0.82491],
  rXYZ: [0.43607, 0.22249, 0.01392],
  gXYZ: [0.38515, 0.71687, 0.09708],
  bXYZ: [0.14307, 0.06061, 0.7141],
} as const;

/** Returns an ICC profile of version 2 that describes sRGB. */
export function srgbProfile(): Buffer {
  const curve = tag('curv', 4 + STEPS * 2);
  curve.writeUInt32BE(STEPS, 8);
  for (let step = 0; step < STEPS; step += 1) {
    const value = step / (STEPS - 1);
    const linear = value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    curve.writeUInt16BE(Math.round(linear * 65_535), 12 + step * 2);
  }
  const name = Buffer.from('sRGB IEC61966-2.1\0', 'latin1');
  // The name in ASCII, and empty ones in Unicode and for old Macintosh systems.
  const description = tag('desc', 4 + name.length + 8 + 3 + 67);
  description.writeUInt32BE(name.length, 8);
  name.copy(description, 12);
  const copyright = tag('text', 15);
  copyright.write('Public domain', 8, 'latin1');
  const points = Object.entries(COLORANTS).map(([key, values]) => {
    const point = tag('XYZ ', 12);
    for (const [index, value] of values.entries())
      point.writeInt32BE(Math.round(value * 65_536), 8 + index * 4);
    return [key, point] as const;
  });
  return assemble([['desc', description], ['cprt', copyright], ...points], curve);
}

function tag(type: string, bytes: number): Buffer {
  const data = Buffer.alloc(8 + Math.ceil(bytes / 4) * 4);
  data.write(type, 0, 'latin1');
  return data;
}

function assemble(tags: ReadonlyArray<readonly [key: string, data: Buffer]>, curve: Buffer): Buffer {
  const curves = ['rTRC', 'gTRC', 'bTRC'];
  const table = Buffer.alloc(4 + 12 * (tags.length + curves.length));
  table.writeUInt32BE(tags.length + curves.length, 0);
  let position = 128 + table.length;
  const entry = (index: number, key: string, data: Buffer) => {
    table.write(key, 4 + index * 12, 'latin1');
    table.writeUInt32BE(position, 8 + index * 12);
    table.writeUInt32BE(data.length, 12 + index * 12);
  };
  for (const [index, [key, data]] of tags.entries()) {
    entry(index, key, data);
    position += data.length;
  }
  for (const [index, key] of curves.entries()) entry(tags.length + index, key, curve);
  const header = Buffer.alloc(128);
  header.writeUInt32BE(position + curve.length, 0);
  header.writeUInt32BE(0x02_10_00_00, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  for (const [index, value] of [2026, 1, 1].entries()) header.writeUInt16BE(value, 24 + index * 2);
  header.write('acsp', 36, 'latin1');
  for (const [index, value] of COLORANTS.wtpt.entries())
    header.writeInt32BE(Math.round(value * 65_536), 68 + index * 4);
  return Buffer.concat([header, table, ...tags.map(([, data]) => data), curve]);
}
