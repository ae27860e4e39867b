import sharp from 'sharp';
import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { useEngine } from '../conversion.ts';
import { makeXlsx } from '../engines/office/detect/archives.ts';

const { convertOne } = useEngine(doc2any, (dependencies) => createEngine(dependencies as EngineDependencies));

it.each(['3Arrows', '4TrafficLights', '3Flags'])('draws the icon set %s', async (set) => {
  const thresholds = Number.parseInt(set, 10);
  const values = Array.from(
    { length: thresholds },
    (_, index) => `<cfvo type="percent" val="${(100 / thresholds) * index}"/>`,
  );
  const rows = Array.from(
    { length: 5 },
    (_, row) => `<row r="${row + 1}"><c r="A${row + 1}"><v>${row}</v></c></row>`,
  );
  const more = `<conditionalFormatting sqref="A1:A5"><cfRule type="iconSet" priority="1"><iconSet iconSet="${set}">${values.join('')}</iconSet></cfRule></conditionalFormatting>`;

  const picture = await convertOne(makeXlsx(rows.join(''), { more }), { format: 'png', name: 'a.xlsx' });

  // Next to the black numbers.
  const { data } = await sharp(picture).trim().removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const shades = new Set(
    Array.from({ length: data.length / 3 }, (_, at) => data.subarray(3 * at, 3 * at + 3).toString('hex')),
  );
  const colored = [...shades].filter((shade) => new Set(shade.match(/../g)).size > 1);
  expect(colored.length).toBeGreaterThan(20);
});
