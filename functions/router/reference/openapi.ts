import { ERRORS } from '../../shared/errors.ts';
import type { JsonSchema } from '../../shared/options/option.ts';
import { properties } from '../../shared/options/schema.ts';
import type { Tool } from '../../shared/tool.ts';
import { type HttpReply, jsonReply } from '../reply.ts';
import { AUTO, type CommonName, MAX_CACHE, RESPONSES } from '../request.ts';

const TEXT = { type: 'string' };
const NOT_EMPTY = { type: 'string', minLength: 1 };
/** Any bytes. Generators of clients read `format`, which OpenAPI 3.1 replaced with `contentMediaType`. */
const FILE = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };
const OUTPUTS = {
  type: 'object',
  required: ['outputs', 'ignored', 'requestId'],
  properties: {
    outputs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['url', 'name', 'contentType'],
        properties: {
          url: TEXT,
          name: TEXT,
          contentType: TEXT,
          bytes: { type: 'integer' },
          page: { type: 'integer' },
          expires: TEXT,
        },
      },
    },
    pageCount: { type: 'integer' },
    app: { type: 'string', description: 'The tool that app=auto has chosen.' },
    ignored: { type: 'array', items: TEXT },
    settled: { type: 'boolean' },
    warnings: { type: 'array', items: TEXT },
    requestId: TEXT,
  },
};
const FORM = {
  type: 'object',
  required: ['infile', 'url', 'fields', 'maxBytes', 'expires'],
  properties: {
    infile: { type: 'string', description: 'The value of `infile` for conversions of the file.' },
    url: {
      type: 'string',
      description: 'Receives the file, by a multipart POST of the fields and then `file`, without a key.',
    },
    fields: { type: 'object', additionalProperties: TEXT },
    maxBytes: { type: 'integer' },
    expires: TEXT,
  },
};
const PROBLEM = {
  type: 'object',
  required: ['title', 'status', 'detail', 'code', 'errors', 'requestId'],
  properties: {
    type: TEXT,
    title: TEXT,
    status: { type: 'integer' },
    detail: TEXT,
    code: { enum: Object.keys(ERRORS) },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { code: TEXT, detail: TEXT, parameter: TEXT } },
    },
    requestId: TEXT,
  },
};

const replies = new WeakMap<readonly Tool[], { readonly canUpload: boolean; readonly reply: HttpReply }>();

/**
 * Replies with the description of the service. It is generated once for the tools of a deployment, because that takes
 * 5 ms, and callers without a key could keep the process busy with it.
 */
export function describeApi(...args: Parameters<typeof openApi>): HttpReply {
  const [tools, { canUpload }] = args;
  const cached = replies.get(tools);
  if (cached?.canUpload === canUpload) return cached.reply;
  const reply = jsonReply(200, openApi(...args));
  replies.set(tools, { canUpload, reply });
  return reply;
}

/** Returns the OpenAPI 3.1 description of the service, generated from the tools' options and the error codes. */
function openApi(tools: readonly Tool[], { canUpload }: { readonly canUpload: boolean }): JsonSchema {
  const parameters = [...commonParameters(tools), ...options(tools)];
  const query = parameters.map(({ name }) => ({ $ref: `#/components/parameters/${keyOf(name)}` }));
  const convert = (operationId: string, summary: string) => ({
    operationId,
    summary,
    parameters: query,
    responses: responses(),
  });
  // In a GET request they can only be in the query.
  const required = parameters
    .filter(({ name }) => REQUIRED.includes(name))
    .map((parameter) => ({ ...parameter, in: 'query', required: true }));
  const source = { '*/*': { schema: FILE } };
  const fields = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const files = {
    infile: { ...FILE, description: 'The source, as a file or as a URL.' },
    asset: {
      type: 'array',
      items: FILE,
      description: 'Files of an uploaded page. Their file names are their paths relative to the page.',
    },
  };
  const forms = formsOf(fields, files);
  const name = {
    name: 'name',
    in: 'path',
    required: true,
    schema: TEXT,
    description: 'File name of the source.',
  };
  const get = (operationId: string, summary: string) => ({
    get: { operationId, summary, responses: { 200: json({ type: 'object' }), ...failures() } },
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'docmill',
      version: '1',
      summary: 'Converts PDFs, web pages, images and office documents.',
    },
    security: [{ apikey: [] }, { header: [] }, { bearer: [] }, { basic: [] }],
    paths: {
      '/api/': {
        get: {
          ...convert('convert', 'Converts the document at a URL.'),
          parameters: [
            ...required,
            ...query.filter((_, index) => !REQUIRED.includes(parameters[index]!.name)),
          ],
        },
        ...(canUpload && {
          post: {
            ...convert(
              'convertBody',
              'Converts a file in the request. Parameters are in the form or in the query.',
            ),
            requestBody: { content: { ...forms, ...source } },
          },
        }),
      },
      ...(canUpload && {
        '/api/{name}': {
          parameters: [name],
          put: {
            ...convert('convertFile', 'Converts the body, with its file name in the path.'),
            requestBody: { required: true, content: source },
          },
        },
        '/api/uploads': {
          post: {
            operationId: 'prepareUpload',
            summary: 'Returns a form that uploads a file for later conversions.',
            parameters: [{ ...name, in: 'query', required: false }],
            requestBody: { content: formsOf({ name: TEXT }) },
            responses: { 200: json(FORM), ...failures() },
          },
        },
      }),
      '/api/usage': get('usage', 'Returns the usage of this month and the limits of the account.'),
      '/api/health': get('health', 'Returns the state of each tool.'),
      '/api/version': get('version', 'Returns the versions of the service and its engines.'),
    },
    components: {
      parameters: Object.fromEntries(
        parameters.map((parameter) => [keyOf(parameter.name), { ...parameter, in: 'query' }]),
      ),
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
        header: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
      },
    },
  };
}

const REQUIRED = ['app', 'infile', 'outfile'];

/** Returns the content of a body with parameters in a form. Only a multipart form has files. */
function formsOf(fields: JsonSchema, files: JsonSchema = {}): JsonSchema {
  return {
    'multipart/form-data': { schema: { type: 'object', properties: { ...fields, ...files } } },
    'application/x-www-form-urlencoded': { schema: { type: 'object', properties: fields } },
  };
}

interface Parameter {
  readonly name: string;
  /** Whether the name alone is valid, as for a switch. */
  readonly allowEmptyValue?: true;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** The parameters that every tool has. */
export function commonParameters(tools: readonly Tool[]): Parameter[] {
  const names = tools.map(({ name }) => name);
  const tables = tools.map(({ name, formats }) => `${name}: ${formats.join(', ')}`).join('; ');
  const parameters: Readonly<Record<Exclude<CommonName, 'apikey'>, Omit<Parameter, 'name'>>> = {
    app: {
      description: 'The tool. `auto` chooses it by the source and the format.',
      schema: { enum: [...names, AUTO] },
    },
    infile: { description: 'The URL of the source, a data: URL or upload:ID.', schema: NOT_EMPTY },
    outfile: { description: `File name whose extension is the format. ${tables}.`, schema: NOT_EMPTY },
    _args: { description: 'Options in order, as on a command line.', schema: TEXT },
    _cache: {
      description: 'Maximum age in seconds of an earlier result that may be used.',
      schema: { type: 'integer', minimum: 1, maximum: MAX_CACHE },
    },
    _keep: {
      description: '0 deletes the result once it has been sent.',
      schema: { type: 'integer', enum: [0, 1], default: 1 },
    },
    _key: { description: 'Signed links: the ID of the signing key.', schema: TEXT },
    _expires: { description: 'Signed links: seconds since 1970.', schema: { type: 'integer' } },
    _signature: { description: 'Signed links: HMAC-SHA256 of the query before it.', schema: TEXT },
    _response: {
      description: 'How the result is returned.',
      schema: { enum: RESPONSES, default: RESPONSES[0] },
    },
  };
  return Object.entries(parameters).map(([name, parameter]) => ({ name, ...parameter }));
}

/** Merges options of several tools that have the same name. */
function options(tools: readonly Tool[]): Parameter[] {
  const found = tools.flatMap((tool) => {
    const own: ReadonlyArray<readonly [string, JsonSchema]> = [
      ...Object.values(tool.options).flatMap(properties),
      ...tool.ignored.map((name) => [name, { description: 'Accepted without an effect' }] as const),
    ];
    return own.map(([name, { description, ...schema }]) => ({
      name,
      schema: inAnyCase(schema),
      text: `${tool.name}: ${description}`,
    }));
  });
  return [...Map.groupBy(found, ({ name }) => name)].map(([name, uses]) => {
    const schemas: JsonSchema[] = [
      ...new Map(uses.map(({ schema }) => [JSON.stringify(schema), schema])).values(),
    ];
    const description = `${uses.map(({ text }) => text).join('. ')}.`;
    return {
      name,
      description,
      schema: schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
      ...(schemas.some(({ type }) => type === 'boolean') && { allowEmptyValue: true }),
    };
  });
}

/** Accepts words in upper and lower case. */
function inAnyCase(schema: JsonSchema): JsonSchema {
  const { enum: words } = schema;
  if (!Array.isArray(words)) return schema;
  return { ...schema, enum: [...new Set(words.flatMap((word) => [word, String(word).toLowerCase()]))] };
}

/**
 * Returns the component name of a parameter. Few characters are allowed, and option names may differ only in their
 * hyphens.
 */
function keyOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, (character) => `_${character.codePointAt(0)}`);
}

function json(schema: JsonSchema): JsonSchema {
  return { description: 'Success.', content: { 'application/json': { schema } } };
}

function responses(): Readonly<Record<string, JsonSchema>> {
  const content = {
    'text/plain': { schema: { type: 'string', description: '[Output] URL<br> for each result.' } },
    'application/json': { schema: OUTPUTS },
    '*/*': { schema: { ...FILE, description: 'The result, for _response=file.' } },
  };
  return {
    200: { description: 'Converted.', content },
    303: { description: 'Redirects to the result, for _response=redirect.' },
    ...failures(),
  };
}

/** Returns a response for each status of an error, with its codes. */
function failures(): Readonly<Record<string, JsonSchema>> {
  const codes = Map.groupBy(Object.entries(ERRORS), ([, { status }]) => status);
  const content = {
    'text/plain': { schema: TEXT },
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  };
  return Object.fromEntries(
    [...codes].map(([status, errors]) => {
      const description = errors.map(([code, error]) => `${code}: ${error.description}.`).join(' ');
      return [status, { description, content }];
    }),
  );
}
