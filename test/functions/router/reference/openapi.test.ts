import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../../functions/router/reference/openapi.ts';
import * as tools from '../../../../functions/tools.ts';

interface Schema {
  readonly properties: Readonly<Record<string, object>>;
}

interface Description {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly requestBody?: { readonly content: Record<string, { schema: Schema }> } }>
      >
    >
  >;
  readonly components: { readonly parameters: Readonly<Record<string, { readonly name: string }>> };
}

const { paths, components } = JSON.parse(
  describeApi(Object.values(tools), { canUpload: true }).body as string,
) as Description;
const FILE = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

/** Returns the schema of a POST body. */
function bodyOf(path: string, type: string): Schema {
  return paths[path]!.post!.requestBody!.content[type]!.schema;
}

describe('the description of bodies', () => {
  it('has files in a multipart form only', () => {
    const multipart = bodyOf('/api/', 'multipart/form-data').properties;
    const encoded = bodyOf('/api/', 'application/x-www-form-urlencoded').properties;

    expect(multipart.infile).toMatchObject(FILE);
    expect(multipart.asset).toMatchObject({ type: 'array', items: FILE });
    expect(encoded.infile).toMatchObject({ type: 'string', minLength: 1 });
    expect(encoded).not.toHaveProperty('asset');
    expect(multipart).toHaveProperty('-resize');
  });

  it('has the name of an upload', () => {
    for (const type of ['multipart/form-data', 'application/x-www-form-urlencoded']) {
      expect(bodyOf('/api/uploads', type).properties).toEqual({ name: { type: 'string' } });
    }
  });
});

it('names parameters as callers write them, without spaces', () => {
  const names = Object.values(components.parameters).map(({ name }) => name);

  expect(names).toEqual(expect.arrayContaining(['+dither', '+append']));
  expect(names.filter((name) => /\s/.test(name))).toEqual([]);
});
