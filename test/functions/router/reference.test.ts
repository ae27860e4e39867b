import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../functions/router/reference.ts';
import * as tools from '../../../functions/tools.ts';

interface Schema {
  readonly required?: readonly string[];
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
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
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
    const multipart = bodyOf('/api', 'multipart/form-data').properties;
    const encoded = bodyOf('/api', 'application/x-www-form-urlencoded').properties;

    expect(multipart.infile).toMatchObject(FILE);
    expect(multipart.asset).toMatchObject({ type: 'array', items: FILE });
    expect(encoded.infile).toMatchObject({ type: 'string', minLength: 1 });
    expect(encoded).not.toHaveProperty('asset');
  });
});

it('names options as callers write them, without spaces, and never requires one', () => {
  const { properties, required } = components.schemas.imageprocRequest!;

  expect(Object.keys(properties)).toEqual(expect.arrayContaining(['+dither', '+append', '-resize']));
  expect(Object.keys(properties).filter((name) => /\s/.test(name))).toEqual([]);
  expect(required).toEqual(['app', 'infile', 'outfile']);
  // Generators of clients require properties with a default.
  expect(Object.values(properties).filter((each) => 'default' in each)).toEqual([]);
});
