import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../functions/conversion/request.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { createApiKey } from '../../../functions/platform/keys.ts';
import { problemsOf } from '../../../functions/router/reply.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { list } from '../../helpers/list.ts';
import { tiny, tinyPage } from '../tiny-tool.ts';

const GOOD = 'apikey=K&app=tiny&infile=https://example.org/a.png&outfile=b.png';

/** Reads a query in the same way as the servers. */
function read(query: string) {
  const pairs = [...new URL(`http://localhost/api/?${query}`).searchParams];
  return readRequest(
    pairs.map(([name, value]) => ({ name, value })),
    [tiny, tinyPage],
  );
}

function errorOf(query: string): ConversionError {
  try {
    read(query);
  } catch (thrown) {
    if (thrown instanceof ConversionError) return thrown;
    throw thrown;
  }
  throw new Error(`The query was taken: ${query}`);
}

describe('a query whose values were grouped by name', () => {
  const pairsOf = (query: string) =>
    [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
  const BASICS = 'app=imageproc&infile=https://example.org/a.png&outfile=b.png';
  const grouped = (query: string, body = '') => {
    const pairs = pairsOf(`${BASICS}&${query}`);
    return readRequest([...pairs, ...pairsOf(body)], [imageproc], { unordered: pairs.length });
  };

  it.each([
    '-rotate=90&-rotate=90',
    '-fill=red&-annotate=A',
    '-gravity=Center&-fill=red&-annotate=A&-annotate=B',
  ])('is read if the order of its options does not matter: %s', (query) => {
    expect(grouped(query).options.steps).toHaveLength(query.split('&').length);
  });

  it.each([
    ['-crop=9x9&-resize=5x5', "'-crop' and '-resize'"],
    ['-fill=red&-fill=blue&-annotate=A&-annotate=B', "'-fill' and '-annotate'"],
    ['-annotate=A&-fill=red&-fill=blue', "'-annotate' and '-fill'"],
    ['-rotate=90&-rotate=90&-crop=9x9', "'-rotate' and '-crop'"],
  ])('is rejected if it does, and told about _args: %s', (query, names) => {
    expect(() => grouped(query)).toThrow(`The order of ${names} matters`);
    expect(() => grouped(query)).toThrow('_args=');
  });

  it('says nothing about the parameters of a body, which come after it in their order', () => {
    const { options } = grouped('-flip', '-crop=9x9&-resize=5x5');

    expect(options.steps).toMatchObject([
      { operator: '-flip' },
      { operator: '-crop' },
      { operator: '-resize' },
    ]);
    expect(() => grouped('-flip&-crop=9x9', '-resize=5x5')).toThrow("'-flip' and '-crop'");
  });

  it('is read if the options are in _args', () => {
    const { options } = grouped('_args=-crop 9x9 -resize 5x5 -crop 2x2%2B0%2B0');

    expect(options.steps).toMatchObject([
      { operator: '-crop' },
      { operator: '-resize' },
      { operator: '-crop' },
    ]);
  });
});

describe('a mistake', () => {
  const parametersOf = (query: string) => {
    const error = errorOf(query);
    return (error.issues ?? [error]).map(({ parameter, message }) => [
      parameter,
      message.includes(`'${parameter}'`),
    ]);
  };

  it.each([
    ['app=tiny', ['infile', 'outfile']],
    ['app=nothing&infile=https://a.example/&outfile=b.png', ['app']],
    [`${GOOD}&-nothing=1`, ['-nothing']],
    [`${GOOD}&-copies=x&_cache=0&_response=x`, ['_response', '_cache', '-copies']],
    [`${GOOD}&-copies=1&-copies=2`, ['-copies']],
    ['app=tiny&infile=ftp://x/&outfile=b.doc', ['infile', 'outfile']],
  ])('names its parameter: %s', (query, names) => {
    expect(parametersOf(query)).toEqual(names.map((name) => [name, true]));
  });

  it('of several values of a list names each', () => {
    const query = [
      ...new URLSearchParams('app=imageproc&infile=https://a.example/&outfile=b.png&-rotate=x&-resize=y'),
    ];
    let error: unknown;
    try {
      readRequest(
        query.map(([name, value]) => ({ name, value })),
        [imageproc],
      );
    } catch (thrown) {
      error = thrown;
    }

    const problems = problemsOf(error as ConversionError);
    expect(problems.map(({ parameter }) => parameter)).toEqual(['-rotate', '-resize']);
  });
});

describe('a valid query', () => {
  it('becomes a typed request', () => {
    expect(read(`${GOOD}&-c=3&-gray`)).toEqual({
      tool: tiny,
      source: 'https://example.org/a.png',
      response: 'text',
      format: 'png',
      outputName: { kind: 'one', name: 'b.png' },
      options: { copies: 3, fault: undefined, gray: true, notes: [], kind: undefined },
      optionNames: ['-c', '-gray'],
      ignored: [],
    });
  });

  it.each([
    ['-gray', true],
    ['-gray=', true],
    ['-gray=1', true],
    ['-gray=false', false],
    ['--no-gray', false],
  ])('may switch with %s', (switched, expected) => {
    expect(read(`${GOOD}&${switched}`).options.gray).toBe(expected);
  });

  it('may have its pairs in any order, and spaces around the common parameters', () => {
    const query = '-c=2&outfile=+b.png&infile=%20https://example.org/a.png&app=tiny+&apikey=K';

    expect(read(query).options.copies).toBe(2);
  });

  it('may have a name with a plus sign that was not encoded', () => {
    const query = new URLSearchParams(
      'app=imageproc&infile=https://a.b/c.png&outfile=a.png&+repage=1&+antialias=1',
    );
    const given = [...query].map(([name, value]) => ({ name, value }));

    expect(readRequest(given, [imageproc])).toMatchObject({ optionNames: ['+repage', '+antialias'] });
  });

  it('may repeat a list parameter and keeps its order', () => {
    expect(read(`${GOOD}&--note=b&--note=a`).options.notes).toEqual(['b', 'a']);
  });

  it('accepts options of the original program that have no effect, and lists them', () => {
    expect(read(`${GOOD}&-q&-verbose=1&-q`).ignored).toEqual(['-q', '-verbose']);
  });
});

it('may name doc2any as another service does', () => {
  const query = 'app=ViewAsPDFPaper&infile=https://example.org/a.doc&outfile=b.pdf';
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));

  expect(readRequest(pairs, [imageproc, doc2any]).tool).toBe(doc2any);
});

describe('an invalid query', () => {
  it.each([
    ['', 'MISSING_PARAMETER', "Parameter 'app' is missing."],
    [GOOD.replace('app=tiny', 'app='), 'MISSING_PARAMETER', "Parameter 'app' is missing."],
    [
      GOOD.replace('app=tiny', 'app=tyni'),
      'UNKNOWN_APP',
      "must be one of tiny, tinypage, auto, got 'tyni'. Did you mean 'tiny'?",
    ],
    [GOOD.replace('app=tiny', 'app=Tiny'), 'UNKNOWN_APP', "got 'Tiny'. Did you mean 'tiny'?"],
    [GOOD.replace('app=tiny', 'app=libreoffice'), 'UNKNOWN_APP', "got 'libreoffice'."],
    [
      GOOD.replace('b.png', 'b.pdf'),
      'UNSUPPORTED_CONVERSION',
      'asks for a .pdf file, but tiny writes .png, .jpg.',
    ],
    [
      GOOD.replace('b.png', '%d.jpg'),
      'UNSUPPORTED_CONVERSION',
      'asks for one .jpg file per page, but tiny writes .png.',
    ],
    [
      GOOD.replace('b.png', 'b'),
      'UNSUPPORTED_CONVERSION',
      "must end with the extension of an output format, got 'b'.",
    ],
    [GOOD.replace('b.png', 'a%2Fb%3F.png'), 'BAD_PARAMETER', "Parameter 'outfile' must be a file name"],
    [
      GOOD.replace('tiny&', 'tinypage&').replace('b.png', 'b.pdf.zip'),
      'UNSUPPORTED_CONVERSION',
      'always writes a single file',
    ],
    [`${GOOD}&-copies=0`, 'BAD_PARAMETER', "Parameter '-copies' must be an integer from 1 to 1000, got '0'."],
    [`${GOOD}&-copies`, 'BAD_PARAMETER', "got ''."],
    [`${GOOD}&-copie=1`, 'UNKNOWN_PARAMETER', "Unknown option '-copie' for tiny. Did you mean '-copies'?"],
    [`${GOOD}&--copies=1`, 'UNKNOWN_PARAMETER', "Did you mean '-copies'?"],
    [`${GOOD}&-Copies=1`, 'UNKNOWN_PARAMETER', "Did you mean '-copies'?"],
    [`${GOOD}&-zzzzzz=1`, 'UNKNOWN_PARAMETER', "Unknown option '-zzzzzz' for tiny."],
    [`${GOOD}&__proto__=1`, 'UNKNOWN_PARAMETER', "Unknown option '__proto__' for tiny."],
    [`${GOOD}&-write=/etc/passwd`, 'BAD_PARAMETER', "Option '-write' is not allowed"],
    [`${GOOD}&-c=1&-c=1`, 'BAD_PARAMETER', "Parameter '-c' must be given at most once, got 2 values."],
    [
      `${GOOD}&-c=1&-copies=1`,
      'BAD_PARAMETER',
      "Parameters '-c' and '-copies' must be given at most once, got 2 values.",
    ],
    [`${GOOD}&app=tiny`, 'BAD_PARAMETER', "Parameter 'app' must be given at most once, got 2 values."],
    [`${GOOD}&infile=https://a.example/`, 'BAD_PARAMETER', "Parameter 'infile' must be given at most once"],
    [`${GOOD}&outfile=b.png`, 'BAD_PARAMETER', "Parameter 'outfile' must be given at most once"],
  ])('%s is %s', (query, code, text) => {
    const error = errorOf(query);

    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  it.each([
    ...list`
      example.org/a.png, /a.png, //example.org/a.png, ftp://example.org/a, file:///etc/passwd, http://
    `,
    ...['javascript:alert(1)', 'https:', 'http://[::1', 'http://a b/', `https://a/${'b'.repeat(8000)}`],
  ])('rejects the URL %s', (address) => {
    const error = errorOf(GOOD.replace('https://example.org/a.png', encodeURIComponent(address)));

    expect(error.code).toBe('BAD_ADDRESS');
    expect(error.message).toMatch(/^Parameter 'infile' must be an absolute http or https URL/);
    expect(error.message.length).toBeLessThan(250);
  });

  it('reports every mistake at once', () => {
    const error = errorOf(
      'apikey=K&app=tiny&infile=ftp://x/&outfile=b.exe&-c=0&-fault=bad&-write=x&-nope&-c=0',
    );

    expect(error.code).toBe('BAD_ADDRESS');
    for (const name of ['infile', 'outfile', '-c', '-fault', '-write', '-nope']) {
      expect(error.message).toContain(`'${name}'`);
    }
    expect(error.message.match(/\.(?= |$)/g)!.length).toBeGreaterThanOrEqual(6);
  });

  it('reports three missing parameters', () => {
    expect(errorOf('apikey=K').message).toBe(
      "Parameter 'app' is missing. Parameter 'infile' is missing. Parameter 'outfile' is missing.",
    );
  });
});

describe('a URL that was not encoded', () => {
  const around = (address: string) => `apikey=K&app=tiny&infile=${address}&outfile=b.png`;

  it.each([
    'https://example.org/a?x=1&y=2',
    'https://example.org/a?x=1&y=2&y=3&z',
    'https://example.org/a?x=1&page=%C3%A4%26b&c=d%20e',
    'https://example.org/a?x&y',
    'https://bucket.s3.eu-central-1.amazonaws.com/0a/b.png?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20261120%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20261120T225500Z&X-Amz-Expires=3600&X-Amz-Security-Token=IQoJb3JpZ2luX2Vj%2B%2F%2F%3D%3D&X-Amz-Signature=0123456789abcdef&X-Amz-SignedHeaders=host&x-id=GetObject',
    'http://localhost:3000/files/0a/b.png?expires=1795000000&signature=0123456789abcdef',
  ])('is reassembled: %s', (address) => {
    const { source, options } = read(`${around(address)}&-c=2`);

    const [given, back] = [new URL(address), new URL(source)];
    expect([...back.searchParams]).toEqual([...given.searchParams]);
    expect(back.origin + back.pathname).toBe(given.origin + given.pathname);
    expect(options.copies).toBe(2);
  });

  it('equals the encoded URL', () => {
    const address = 'https://example.org/a?x=1&y=2&outfile=c.pdf&-c=9';

    expect(read(around(encodeURIComponent(address))).source).toBe(address);
  });

  it('keeps the parameters of the service, whatever is between them', () => {
    const query = 'app=tiny&-c=2&infile=https://example.org/a?x=1&in_ext=.png&y=2&outfile=b.png&-gray&z=3';

    const { source, options } = read(query);

    expect(source).toBe('https://example.org/a?x=1&y=2&z=3');
    expect(options).toMatchObject({ copies: 2, gray: true, kind: '.png' });
  });

  it('does not take a mistyped option as part of the URL', () => {
    expect(errorOf(`${around('https://example.org/a?x=1')}&-copie=2`).message).toContain(
      "Did you mean '-copies'?",
    );
  });

  it('takes no parameter if the URL has no query', () => {
    expect(errorOf(`${around('https://example.org/a')}&y=2`).code).toBe('UNKNOWN_PARAMETER');
  });
});

it.each(['apiKey', 'api_key', 'key'])(
  'does not add a key that is misspelled as %s to the URL of the source',
  (name) => {
    const key = createApiKey();
    const query = `${GOOD.replace('a.png', 'a.png?x=1')}&${name}=${key}`;

    expect(() => read(query)).toThrow(`Unknown option '${name}'`);
    expect(read(query.replace(key, 'short')).source).toBe(`https://example.org/a.png?x=1&${name}=short`);
  },
);
