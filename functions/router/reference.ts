import { AUTO, type CommonName, MAX_CACHE, RESPONSES } from '../conversion/request.ts';
import { jobOperations } from '../jobs/reference.ts';
import { ERRORS } from '../shared/errors.ts';
import type { JsonSchema } from '../shared/options/option.ts';
import { properties, referenceOf } from '../shared/options/reference.ts';
import type { Tool } from '../shared/tool.ts';
import { type Method, methodsOf, type Path } from './endpoints.ts';
import { JSON_PATH } from './http.ts';
import { jsonReply, type TextReply } from './reply.ts';
import { IDEMPOTENCY_KEY } from './reuse.ts';

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
    code: { type: 'string', enum: Object.keys(ERRORS) },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { code: TEXT, detail: TEXT, parameter: TEXT, index: { type: 'integer' } },
      },
    },
    requestId: TEXT,
  },
};

const replies = new WeakMap<readonly Tool[], { readonly canUpload: boolean; readonly reply: TextReply }>();

/**
 * Replies with the description of the service. It is generated once for the tools of a deployment, because that takes
 * 5 ms, and callers without a key could keep the process busy with it.
 */
export function describeApi(...args: Parameters<typeof openApi>): TextReply {
  const [tools, { canUpload }] = args;
  const cached = replies.get(tools);
  if (cached?.canUpload === canUpload) return cached.reply;
  const reply = jsonReply(200, openApi(...args));
  replies.set(tools, { canUpload, reply });
  return reply;
}

/** Returns the OpenAPI 3.1 description of the service, generated from the tools' options and the error codes. */
function openApi(tools: readonly Tool[], { canUpload }: { readonly canUpload: boolean }): JsonSchema {
  const common = commonParameters(tools).map((parameter) => ({
    ...parameter,
    in: 'query',
    ...(REQUIRED.includes(parameter.name) && { required: true }),
  }));
  const query = common.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }));
  const options = tools.map(({ name }) => ({
    name: `${name}Options`,
    in: 'query',
    description: `The options of ${name}, each as a parameter of its own.`,
    style: 'form',
    explode: true,
    schema: refTo(`${name}Options`),
  }));
  const get = (operationId: string, summary: string) => ({
    GET: { operationId, summary, responses: { 200: json({ type: 'object' }), ...failures() } },
  });
  const operations: Operations = {
    [JSON_PATH]: {
      GET: {
        operationId: 'convert',
        summary: 'Converts the document at a URL.',
        parameters: [...query, ...options, ONCE],
        responses: { 200: json(OUTPUTS), ...failures() },
      },
      POST: {
        operationId: 'convertWith',
        summary: 'Converts the document at a URL, with the parameters as JSON.',
        parameters: [ONCE],
        requestBody: { required: true, content: { 'application/json': { schema: anyRequest(tools) } } },
        responses: { 200: json(OUTPUTS), ...failures() },
      },
    },
    '/api': {
      GET: {
        operationId: 'convertToText',
        summary: 'Converts the document at a URL, and responds with text.',
        parameters: [...query, ...options, ONCE],
        responses: responses(),
      },
      POST: {
        operationId: 'convertFile',
        summary: 'Converts a file in the request. Parameters are in the form or in the query.',
        parameters: [ONCE],
        requestBody: { required: true, content: { ...formsOf(tools), ...SOURCE } },
        responses: responses(),
      },
    },
    '/api/{name}': {
      PUT: {
        operationId: 'convertBody',
        summary: 'Converts the body, with its file name in the path.',
        parameters: [{ ...NAME, in: 'path', required: true }, ...query, ONCE],
        requestBody: { required: true, content: SOURCE },
        responses: responses(),
      },
    },
    '/api/uploads': {
      POST: {
        operationId: 'prepareUpload',
        summary: 'Returns a form that uploads a file for later conversions.',
        parameters: [{ ...NAME, in: 'query' }],
        responses: { 200: json(FORM), ...failures() },
      },
      DELETE: {
        operationId: 'deleteUpload',
        summary: 'Deletes an upload before it expires.',
        parameters: [
          { name: 'infile', in: 'query', required: true, schema: TEXT, description: 'Its `infile`.' },
        ],
        responses: { 204: { description: 'Deleted.' }, ...failures() },
      },
    },
    '/api/results': {
      DELETE: {
        operationId: 'deleteResult',
        summary: 'Deletes a result of the account.',
        parameters: [
          { name: 'url', in: 'query', required: true, schema: TEXT, description: 'The URL of the result.' },
        ],
        responses: { 204: { description: 'Deleted.' }, ...failures() },
      },
    },
    ...jobOperations(OUTPUTS.properties, (schema) => ({ 200: json(schema), ...failures() }), failures()),
    '/api/usage': get('usage', 'Returns the usage of this month and the limits of the account.'),
    '/api/health': get('health', 'Returns the state of each tool.'),
    '/api/version': get('version', 'Returns the versions of the service and its engines.'),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'docmill',
      version: '1',
      summary: 'Converts PDFs, web pages, images and office documents.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apikey: [] }, { header: [] }, { bearer: [] }, { basic: [] }],
    paths: pathsOf(operations, canUpload),
    components: {
      parameters: {
        ...Object.fromEntries(common.map((parameter) => [parameter.name, parameter])),
        [IDEMPOTENCY_KEY]: IDEMPOTENCY,
      },
      schemas: {
        Problem: PROBLEM,
        ...Object.fromEntries(tools.map((tool) => [`${tool.name}Options`, optionsOf(tool)])),
        ...Object.fromEntries(tools.map((tool) => [`${tool.name}Request`, requestOf(tool, tools)])),
        autoRequest: autoRequest(tools),
      },
      securitySchemes: {
        apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
        header: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
      },
    },
  };
}

/** The operations of each path but that of the description itself. */
type Operations = Readonly<
  Record<Exclude<Path, '/api/openapi.json'>, Partial<Readonly<Record<Method, JsonSchema>>>>
>;

/** Returns the described operations that a deployment has. */
function pathsOf(operations: Operations, canUpload: boolean): JsonSchema {
  const paths = Object.entries(operations).map(([path, described]) => {
    const methods = methodsOf(path as Path, canUpload).filter((method) => described[method]);
    return [
      path,
      Object.fromEntries(methods.map((method) => [method.toLowerCase(), described[method]])),
    ] as const;
  });
  return Object.fromEntries(paths.filter(([, described]) => Object.keys(described).length > 0));
}

const IDEMPOTENCY = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description: 'A later request of the account with the same key within 24 hours returns the same result.',
};
const ONCE = { $ref: `#/components/parameters/${IDEMPOTENCY_KEY}` };

const REQUIRED = ['app', 'infile', 'outfile'];
const SOURCE = { '*/*': { schema: FILE } };
const NAME = { name: 'name', schema: TEXT, description: 'File name of the source.' };

/** Returns the schema of a body for any tool, which `app` distinguishes. */
function anyRequest(tools: readonly Tool[]): JsonSchema {
  const names = [...tools.map(({ name }) => name), AUTO];
  const mapping = Object.fromEntries(names.map((name) => [name, refTo(`${name}Request`).$ref]));
  return {
    oneOf: names.map((name) => refTo(`${name}Request`)),
    discriminator: { propertyName: 'app', mapping },
  };
}

function requestOf(tool: Tool, tools: readonly Tool[]): JsonSchema {
  const { app: _, ...common } = fieldsOf(tools);
  const app = { type: 'string', const: tool.name };
  return {
    type: 'object',
    required: REQUIRED,
    properties: { app, ...common, ...(optionsOf(tool).properties as JsonSchema) },
    additionalProperties: false,
  };
}

/** Which options are valid depends on the tool that the source selects. */
function autoRequest(tools: readonly Tool[]): JsonSchema {
  const { app: _, ...common } = fieldsOf(tools);
  return {
    type: 'object',
    required: REQUIRED,
    properties: { app: { type: 'string', const: AUTO }, ...common },
    additionalProperties: true,
  };
}

function optionsOf({ options, ignored }: Tool): JsonSchema {
  const known = Object.values(options).flatMap(properties);
  const all = [
    ...known.map(([name, schema]) => [name, inAnyCase(withDefaultAsText(schema))] as const),
    ...ignored.map((name) => [name, { ...TEXT, description: 'Accepted without an effect' }] as const),
  ];
  return { type: 'object', properties: Object.fromEntries(all) };
}

function fieldsOf(tools: readonly Tool[]): JsonSchema {
  const fields = commonParameters(tools);
  return Object.fromEntries(
    fields.map(({ name, schema, description }) => [name, withDefaultAsText({ ...schema, description })]),
  );
}

/** Returns the content of a body with parameters in a form. Only a multipart form has files. */
function formsOf(tools: readonly Tool[]): JsonSchema {
  const fields = fieldsOf(tools);
  const files = {
    infile: { ...FILE, description: 'The source, as a file or as a URL.' },
    asset: {
      type: 'array',
      items: FILE,
      description: 'Files of an uploaded page. Their file names are their paths relative to the page.',
    },
  };
  const form = (own: JsonSchema) => ({
    schema: {
      type: 'object',
      description: `The options of the tool are further fields, as in ${JSON_PATH}.`,
      properties: { ...fields, ...own },
      additionalProperties: TEXT,
    },
  });
  return { 'multipart/form-data': form(files), 'application/x-www-form-urlencoded': form({}) };
}

function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

interface Parameter {
  readonly name: string;
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
      schema: { type: 'string', enum: [...names, AUTO] },
    },
    infile: { description: 'The URL of the source (also s3:), a data: URL or upload:ID.', schema: NOT_EMPTY },
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
    _async: {
      description: '1 responds at once with the URL of a job that converts.',
      schema: { type: 'integer', enum: [0, 1], default: 0 },
    },
    _webhook: { description: 'URL to notify when the job has ended. Implies _async.', schema: NOT_EMPTY },
    _key: { description: 'Signed links: the ID of the signing key.', schema: TEXT },
    _expires: { description: 'Signed links: seconds since 1970.', schema: { type: 'integer' } },
    _signature: { description: 'Signed links: HMAC-SHA256 of the query before it.', schema: TEXT },
    _to: { description: 's3://BUCKET/PREFIX/ that the results are moved to.', schema: TEXT },
    _response: {
      description: 'How the result is returned.',
      schema: { type: 'string', enum: RESPONSES, default: RESPONSES[0] },
    },
  };
  return Object.entries(parameters).map(([name, parameter]) => ({ name, ...parameter }));
}

/** Generators of clients make a property with a default a required one. */
function withDefaultAsText({ default: absent, description, ...schema }: JsonSchema): JsonSchema {
  const added = absent === undefined ? '' : `. Default: ${String(absent)}`;
  return { ...schema, description: `${description}${added}` };
}

/** Accepts words in upper and lower case. */
function inAnyCase(schema: JsonSchema): JsonSchema {
  const { enum: words } = schema;
  if (!Array.isArray(words)) return schema;
  return { ...schema, enum: [...new Set(words.flatMap((word) => [word, String(word).toLowerCase()]))] };
}

function json(schema: JsonSchema): JsonSchema {
  return { description: 'Success.', content: { 'application/json': { schema } } };
}

function responses(): Readonly<Record<string, JsonSchema>> {
  const content = {
    'text/plain': { schema: { type: 'string', description: '[Output] URL<br> for each result.' } },
    '*/*': { schema: { ...FILE, description: 'The result, for _response=file.' } },
  };
  return {
    200: { description: 'Converted.', content },
    303: { description: 'Redirects to the result, for _response=redirect.' },
    ...failures({ 'text/plain': { schema: TEXT } }),
  };
}

/** Returns a response for each status of an error, with its codes. */
function failures(others: JsonSchema = {}): Readonly<Record<string, JsonSchema>> {
  const codes = Map.groupBy(Object.entries(ERRORS), ([, { status }]) => status);
  const content = { 'application/problem+json': { schema: refTo('Problem') }, ...others };
  return Object.fromEntries(
    [...codes].map(([status, errors]) => {
      const description = errors.map(([code, error]) => `${code}: ${error.description}.`).join(' ');
      return [status, { description, content }];
    }),
  );
}

/** Returns a summary of the service for language models, in the format of `/llms.txt`. */
export function llmsText(tools: readonly Tool[]): string {
  return `# docmill

> Converts PDFs, web pages, images and office documents with one HTTP request.

Send GET /api/?app=TOOL&infile=URL&outfile=NAME.EXTENSION with the API key in the header X-Api-Key. The extension is the format.
app=auto chooses the tool by the source and the format, and the header X-App names it.
The response is the text "[Output] URL<br>"; with the header "Accept: application/json" it is JSON, and errors are
application/problem+json. POST /api/json takes the same parameters as a JSON object, and always responds with JSON.
_async=1 responds at once with the URL of a job, and GET on that URL with ?wait=30 returns the job as JSON.
To send a file instead of a URL, POST it to /api/ as multipart/form-data with the fields app, outfile and infile.
outfile=page-*.png writes one file per page, and outfile=pages.png.zip an archive.

## Tools

${tools.map(toolText).join('\n')}
## Reference

- [OpenAPI 3.1](/api/openapi.json): every option of every tool, and the error codes
- [Documentation](/docs): the parameters that all tools share
- [Error codes](/support#codes): what each code means
- [Health](/api/health): the state of each tool
`;
}

/** Returns a line for a tool, and one for each category of its options. */
function toolText(tool: Tool): string {
  const { name, summary, formats } = tool;
  const categories = [...referenceOf(tool)].map(([category, options]) => {
    const names = options.map(({ option }) => option.names[0]);
    return `  - ${category}: ${names.join(' ')}\n`;
  });
  return `- [${name}](/docs/${name}): ${summary} Writes ${formats.join(', ')}.\n${categories.join('')}`;
}
