import { extensionsOf } from '../../../../shared/extensions.ts';
import { MAX_ARGS_LENGTH } from '../../../../shared/options/args.ts';
import { type JsonSchema, MAX_URL_LENGTH } from '../../../../shared/options/option.ts';
import { properties } from '../../../../shared/options/schema.ts';
import { MAX_NAME_LENGTH } from '../../../../shared/output-name.ts';
import type { Tool } from '../../../../shared/tool.ts';

const SCALAR = { type: ['string', 'number', 'boolean'] };

/** Returns the JSON Schema (draft 2020-12) of a tool's public event, generated from the tool's options. */
export function eventSchema(tool: Tool): JsonSchema {
  const options = Object.values(tool.options).flatMap(properties);
  const ignored = tool.ignored.map((name) => [name, { ...SCALAR, description: 'Has no effect.' }] as const);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Event of ${tool.name}`,
    description: tool.summary,
    type: 'object',
    required: ['version', 'infile', 'outfile'],
    additionalProperties: false,
    properties: {
      version: { const: 1 },
      infile: {
        type: 'string',
        maxLength: MAX_URL_LENGTH,
        description: 'Absolute http or https URL of the source.',
      },
      outfile: { type: 'string', maxLength: MAX_NAME_LENGTH, pattern: outfilePattern(tool) },
      options: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries([...ignored, ...options]),
      },
      _args: {
        type: 'string',
        maxLength: MAX_ARGS_LENGTH,
        description: 'Options in order, as on a command line.',
      },
      upload: {
        type: 'object',
        required: ['url'],
        additionalProperties: false,
        properties: {
          url: { type: 'string', maxLength: MAX_URL_LENGTH },
          fields: {
            type: 'object',
            required: ['key'],
            properties: { key: { type: 'string' } },
            additionalProperties: { type: 'string' },
          },
        },
      },
    },
  };
}

/**
 * Returns a case-insensitive pattern of the extensions that the tool writes: for one file, a file per page or an
 * archive.
 */
function outfilePattern({ formats, paged }: Tool): string {
  const anyCase = (text: string) => text.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  const list = (names: readonly string[]) => names.flatMap(extensionsOf).map(anyCase).join('|');
  const archive = paged.length === 0 ? '' : `|\\.(${list(paged)})\\.${anyCase('zip')}`;
  return `(\\.(${list(formats)})${archive})$`;
}
