import { extensionsOf } from '../../../../shared/extensions.ts';
import { MAX_ARGS_LENGTH } from '../../../../shared/options/args.ts';
import { type JsonSchema, MAX_URL_LENGTH } from '../../../../shared/options/option.ts';
import { properties } from '../../../../shared/options/reference.ts';
import { MAX_NAME_LENGTH } from '../../../../shared/output-name.ts';
import type { Tool } from '../../../../shared/tool.ts';

/**
 * The public event of every tool's function, sent by Step Functions, another Lambda function or the command line.
 * Names are those of the HTTP interface. `eventSchema` describes the same as a JSON Schema for one tool.
 */
export interface ToolEvent {
  readonly version: 1;
  /** Absolute http or https URL of the source. */
  readonly infile: string;
  /** File name whose extension selects the format. `%d` writes a file per page, and `.zip` an archive of them. */
  readonly outfile: string;
  /** Options by name, including hyphens. Their order does not matter. */
  readonly options?: Readonly<Record<string, OptionValue>>;
  /** Further options as on a command line, for those whose order matters: `-crop 50x50+0+0 -resize 200x`. */
  readonly _args?: string;
  /** Where to upload the result. If absent, the result is part of the response. */
  readonly upload?: Upload;
}

/** A value, or the values of an option that may be given more than once. */
type OptionValue = string | number | boolean | ReadonlyArray<string | number | boolean>;

/**
 * A presigned POST form, with its fields, or a presigned PUT URL, which takes one file. The form's `key` may contain
 * `${filename}`, which is replaced by the name of each file.
 */
export interface Upload {
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The response of a tool's function to a `ToolEvent`. */
export interface ToolResult {
  readonly outputs: readonly ToolOutput[];
  /** Number of pages of the source document. */
  readonly pageCount?: number;
  /** Options that were accepted but have no effect. */
  readonly ignored: readonly string[];
  /** Sentences about missing parts of the outputs, such as the rest of a truncated image. */
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}

export interface ToolOutput {
  /** File name. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Page of the document, if there is a file per page. */
  readonly page?: number;
  /** Content as base64, if nothing was uploaded. */
  readonly base64?: string;
}

/** Placeholder for the name of each file in the `key` of an upload form, as in S3's own forms. */
export const FILE_NAME = `\${filename}`;

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
