import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { eventSchema } from '../../../../../../functions/platform/aws/lambda/direct/event.ts';
import { readEvent } from '../../../../../../functions/platform/aws/lambda/direct/run.ts';
import { extensionsOf } from '../../../../../../functions/shared/extensions.ts';
import { FORMATS } from '../../../../../../functions/shared/formats.ts';
import * as tools from '../../../../../../functions/tools.ts';

const TOOLS = Object.values(tools);
const validatorOf = (tool: (typeof TOOLS)[number]) =>
  new Ajv2020({ strict: true, allowUnionTypes: true }).compile(eventSchema(tool));

describe.each(TOOLS)('the JSON Schema of $name', (tool) => {
  const event = (fields: object = {}) => ({
    version: 1,
    infile: 'https://example.com/a',
    outfile: `a.${tool.formats[0]}`,
    ...fields,
  });
  const isValid = validatorOf(tool);

  it('accepts the smallest event, every default and an upload, as the function does', () => {
    const upload = { url: 'https://b.example.com/', fields: { key: 'a' } };

    for (const each of [event(), event({ upload })]) {
      expect(isValid(each), JSON.stringify(isValid.errors)).toBe(true);
      expect(() => readEvent(tool, each)).not.toThrow();
    }
  });

  it('accepts every extension of the formats, in any case, as the function does', () => {
    for (const extension of tool.formats.flatMap(extensionsOf)) {
      // An archive has attached files.
      const options = extension === 'zip' ? { '-attachments': true } : {};
      const each = event({ outfile: `a.${extension.toUpperCase()}`, options });
      expect(isValid(each), extension).toBe(true);
      expect(() => readEvent(tool, each), extension).not.toThrow();
    }
  });

  it('names every option of the tool', () => {
    const schema = eventSchema(tool) as { properties: { options: { properties: object } } };
    const names = Object.values(tool.options).flatMap((parameter) => parameter.names);

    expect(Object.keys(schema.properties.options.properties)).toEqual(expect.arrayContaining([...names]));
  });

  it('accepts for each option only what the function accepts', () => {
    const schema = eventSchema(tool) as {
      properties: {
        options: { properties: Record<string, { default?: unknown; enum?: readonly string[] }> };
      };
    };
    for (const [name, option] of Object.entries(schema.properties.options.properties)) {
      const value = option.default ?? option.enum?.[0];
      if (value === undefined) continue;
      const given = event({ options: { [name]: value } });
      expect(isValid(given), `${name} ${JSON.stringify(isValid.errors)}`).toBe(true);
      const issues = /Parameter '([^']+)' must be/.exec(mistake(tool, given));
      expect(issues?.[1]).not.toBe(name);
    }
  });

  it.each([
    ['another version', { version: 2 }],
    ['an unknown field', { account: 'me' }],
    ['an unknown option', { options: { '--nonsense': 1 } }],
    ['an unknown format', { outfile: 'a.epub' }],
    ['an upload without a URL', { upload: {} }],
  ])('rejects %s, as the function does', (_, fields) => {
    expect(isValid(event(fields))).toBe(false);
    expect(mistake(tool, event(fields))).not.toBe('');
  });

  it('rejects a format that the tool does not write, as the function does', () => {
    const other = Object.keys(FORMATS).find((format) => !tool.formats.some((own) => own === format));
    const given = event({ outfile: `a.${other}` });

    expect(isValid(given)).toBe(false);
    expect(mistake(tool, given)).toContain(`.${other}`);
  });
});

function mistake(tool: (typeof TOOLS)[number], given: unknown): string {
  try {
    readEvent(tool, given);
    return '';
  } catch (thrown) {
    return (thrown as Error).message;
  }
}
