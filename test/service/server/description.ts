import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Query } from './client.ts';

interface Parameter {
  readonly name: string;
  readonly required?: boolean;
  readonly allowEmptyValue?: boolean;
  readonly schema: object;
}

interface Description {
  readonly paths: {
    readonly '/api/': {
      readonly get: {
        readonly parameters: readonly ({ readonly $ref: string } | Parameter)[];
        readonly responses: Readonly<Record<string, { readonly content?: object }>>;
      };
    };
  };
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** Compares calls with what the service says about itself, by a JSON Schema validator. */
export interface Described {
  /** Returns the mistakes in a query. */
  mistakesIn(query: Query): readonly string[];
  /** Whether a response may have this status and media type. */
  mayReturn(status: number, contentType: string): boolean;
}

/** Reads the description that a service publishes. */
export async function readDescription(base: string): Promise<Described> {
  const { paths, components } = (await (await fetch(`${base}/api/openapi.json`)).json()) as Description;
  const { parameters, responses } = paths['/api/'].get;
  const named = parameters.map((parameter) =>
    '$ref' in parameter ? components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
  );
  // A query contains texts. Generated clients read and write the types of the description.
  const ajv = new Ajv2020({ strict: false, coerceTypes: true, allErrors: true });
  const isValid = ajv.compile({
    type: 'object',
    required: named.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
    additionalProperties: false,
  });
  return {
    mistakesIn({ apikey: _key, ...query }) {
      const empty = named.filter(({ name, allowEmptyValue }) => allowEmptyValue && query[name] === '');
      const given = { ...query, ...Object.fromEntries(empty.map(({ name }) => [name, true])) };
      if (isValid(given)) return [];
      return isValid.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
    mayReturn: (status, contentType) => {
      const { content } = responses[status] ?? {};
      return content !== undefined && contentType.split(';')[0]! in content;
    },
  };
}
