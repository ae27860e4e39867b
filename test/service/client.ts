import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { ServiceUnderTest } from '../lab/service.ts';

/** Pairs of a query in their order; an option without a value is `''`. */
type Query = Readonly<Record<string, string | number>>;

/** The ways in which clients extract a URL from a body. All must find the same one. */
const CUTS: Readonly<Record<string, (body: string) => string>> = {
  specified: (body) => body.replaceAll('[Output]', '').replaceAll('<br>', '').replaceAll(' ', ''),
  position: (body) => body.slice('[Output] '.length, -'<br>'.length),
  'line break': (body) => body.split('<br>')[0]!.replace('[Output] ', ''),
  marker: (body) => body.split('[Output]')[1]!.replace('<br>', '').trim(),
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

interface Result {
  readonly address: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

interface Refusal {
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
}

/** Calls a service as its callers do. */
export class Client {
  readonly #service: ServiceUnderTest;
  #described: Promise<Described> | undefined;

  constructor(service: ServiceUnderTest) {
    this.#service = service;
  }

  /** Sends a query unchanged, without adding a key. */
  async send(query: string, init?: RequestInit): Promise<Answer> {
    const response = await fetch(`${this.#service.base}/api/?${query}`, init);
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** Sends a query with the key, and compares both sides with the description of the service. */
  async ask(query: Query): Promise<Answer> {
    const pairs = Object.entries({ apikey: this.#service.apiKey, ...query });
    const answer = await this.send(
      new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString(),
    );
    this.#described ??= readDescription(this.#service.base);
    expectDescribed(await this.#described, query, answer);
    return answer;
  }

  /** Converts and returns the only URL in the body. */
  async resultUrl(query: Query): Promise<string> {
    return urlsIn(await this.ask(query), 1)[0]!;
  }

  /** Converts and downloads the only result. */
  async convert(query: Query): Promise<Result> {
    return download(await this.resultUrl(query));
  }

  /** Converts and downloads the expected number of results. */
  async convertAll(query: Query, count: number): Promise<Result[]> {
    return Promise.all(urlsIn(await this.ask(query), count).map(download));
  }

  /** Sends a query that must be rejected. */
  async refuse(query: Query): Promise<Refusal> {
    return refusalIn(await this.ask(query));
  }
}

/** Codes of mistakes in a query that its description shows. That of a text does not show which values it may have. */
const MISTAKES = ['MISSING_PARAMETER', 'UNKNOWN_PARAMETER', 'UNKNOWN_APP'];

function expectDescribed(described: Described, query: Query, { status, headers, body }: Answer): void {
  const mistakes = described.mistakesIn(query);
  if (status < 400) expect(mistakes, JSON.stringify(query)).toEqual([]);
  if (MISTAKES.includes(headers.get('x-error-code') ?? '')) expect(mistakes, body).not.toEqual([]);
  expect(described.mayReturn(status, headers.get('content-type') ?? ''), body).toBe(true);
}

/** Extracts the URLs from a successful response in every way that clients do. */
export function urlsIn({ status, headers, body }: Answer, count: number): string[] {
  expect(`${status} ${body}`).toMatch(/^200 (\[Output\] \S+<br>)+$/);
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const parts = body.match(/\[Output\] \S+?<br>/g)!;
  expect(parts).toHaveLength(count);
  expect(parts.join('')).toBe(body);
  return parts.map((part) => {
    const [address, ...others] = Object.values(CUTS).map((cut) => cut(part));
    for (const other of others) expect(other).toBe(address);
    return address!;
  });
}

/** Parses an error response. */
export function refusalIn({ status, headers, body }: Answer): Refusal {
  const code = headers.get('x-error-code');
  expect(body).toMatch(/^\[ERROR\] .+[.?] \([A-Z_]+\)$/);
  expect(body.endsWith(`(${code})`)).toBe(true);
  expect(body).not.toMatch(/\[Output\]|<br>|\/tmp\/|node_modules|at .+:\d+:\d+/);
  return { status, code, message: body.slice('[ERROR] '.length, -` (${code})`.length) };
}

async function download(address: string): Promise<Result> {
  const response = await fetch(address);
  expect(response.status).toBe(200);
  return {
    address,
    contentType: response.headers.get('content-type') ?? '',
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

interface Schema {
  readonly properties: Readonly<Record<string, object>>;
}

type Responses = Readonly<Record<string, { readonly content?: object }>>;

interface Description {
  readonly paths: Readonly<Record<'/api' | '/api/json', { readonly get: { readonly responses: Responses } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Compares calls with what the service says about itself, by a JSON Schema validator. */
interface Described {
  /** Returns the mistakes in a query. */
  mistakesIn(query: Query): readonly string[];
  /** Whether a response may have this status and media type. */
  mayReturn(status: number, contentType: string): boolean;
}

/** Reads the description that a service publishes. */
async function readDescription(base: string): Promise<Described> {
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
