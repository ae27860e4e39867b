import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Query } from './client.ts';

interface Schema {
  readonly properties: Readonly<Record<string, object>>;
}

type Responses = Readonly<Record<string, { readonly content?: object }>>;

interface Description {
  readonly paths: Readonly<Record<'/api' | '/api/json', { readonly get: { readonly responses: Responses } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
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
  const schemaOf = (app: unknown) => components.schemas[`${String(app)}Request`];
  // A query contains texts. Generated clients read and write the types of the description.
  const ajv = new Ajv2020({ strict: false, coerceTypes: true, allErrors: true });
  return {
    mistakesIn({ apikey: _key, ...query }) {
      const schema = schemaOf(query.app);
      if (!schema) return [`There is no tool ${query.app}.`];
      // The name of a switch is enough.
      const isSwitch = (name: string) =>
        /"type":"boolean"/.test(JSON.stringify(schema.properties[name] ?? {}));
      const given = Object.entries(query).map(([name, value]) => [
        name,
        value === '' && isSwitch(name) ? true : value,
      ]);
      const isValid = ajv.compile(schema);
      if (isValid(Object.fromEntries(given))) return [];
      return isValid.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
    mayReturn: (status, contentType) =>
      [paths['/api'], paths['/api/json']].some(({ get }) => {
        const { content } = get.responses[status] ?? {};
        return content !== undefined && contentType.split(';')[0]! in content;
      }),
  };
}
