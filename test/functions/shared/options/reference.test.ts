import { expect, it } from 'vitest';
import { referenceOf } from '../../../../functions/shared/options/reference.ts';
import * as tools from '../../../../functions/tools.ts';

/** Rounds the parts of a color, which is written in 256 steps. */
const rounded = (value: unknown) =>
  Array.isArray(value)
    ? value.map((part) => (typeof part === 'number' ? Math.round(100 * part) : part))
    : value;

it.each(Object.values(tools))('documents defaults of $name that can be sent', (tool) => {
  const documented = [...referenceOf(tool).values()].flat().filter((each) => each.default !== undefined);
  const wrong = documented.filter(({ option, default: value }) => {
    const [name] = option.names as [string];
    return (
      JSON.stringify(rounded(option.read([{ name, value: value! }]))) !==
      JSON.stringify(rounded(option.default))
    );
  });

  expect(documented.length).toBeGreaterThan(0);
  expect(wrong.map(({ option }) => option.names[0])).toEqual([]);
});
