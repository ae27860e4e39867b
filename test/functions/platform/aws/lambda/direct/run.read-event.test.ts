import { describe, expect, it } from 'vitest';
import { isInvocation, readEvent } from '../../../../../../functions/platform/aws/lambda/direct/run.ts';
import { html2pdf, imageproc, pdftools } from '../../../../../../functions/tools.ts';

const event = (fields: object = {}) => ({
  version: 1,
  infile: 'https://example.com/a.pdf?x=1',
  outfile: 'page.png',
  ...fields,
});
const FORM = { url: 'https://bucket.example.com/', fields: { key: 'a/page.png', policy: 'x' } };

/** Returns the mistake that an event is rejected with. */
function mistake(given: unknown, tool: Parameters<typeof readEvent>[0] = pdftools): string {
  try {
    readEvent(tool, given);
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string };
    return `${code}: ${message}`;
  }
  return 'accepted';
}

describe('a public event', () => {
  it('is read with the names and values of the HTTP interface', () => {
    const options = { '-r': 72, '-gray': true, '-cropbox': false, '-quality': '50', '-aa': 'yes' };

    const read = readEvent(pdftools, event({ options, outfile: 'page-%d.jpg' }));

    expect(read).toMatchObject({
      source: 'https://example.com/a.pdf?x=1',
      format: 'jpg',
      outputName: { kind: 'numbered', pattern: 'page-%d.jpg' },
      options: { resolution: 72, gray: true, cropBox: false, quality: 50 },
      ignored: ['-aa'],
      upload: undefined,
    });
  });

  it('takes several values as an array', () => {
    const options = { '--cookie': ['a:1', 'b:2'] };

    const { options: read } = readEvent(html2pdf, event({ outfile: 'a.pdf', options }));

    expect(JSON.stringify(read)).toMatch(/"a".*"b"/);
  });

  it('keeps the order of operators in _args', () => {
    const read = (_args: string) =>
      (
        readEvent(imageproc, event({ outfile: 'a.png', options: { '-gravity': 'Center' }, _args }))
          .options as {
          steps: { operator: string }[];
        }
      ).steps.map(({ operator }) => operator);

    expect(read('-crop 5x5+0+0 -resize 4x4!')).toEqual(['-gravity', '-crop', '-resize']);
    expect(read('-resize 4x4! -crop 5x5+0+0')).toEqual(['-gravity', '-resize', '-crop']);
  });

  it('names _args where the order of an object would matter', () => {
    const operators = (options: object) => mistake(event({ outfile: 'a.png', options }), imageproc);

    expect(operators({ '-crop': '5x5+0+0', '-resize': '4x4!' })).toMatch(
      /^BAD_PARAMETER: The order of '-crop' and '-resize' matters.* _args=/,
    );
    expect(operators({ '-resize': '4x4!', '-fuzz': '5%', '-quality': 50 })).toBe('accepted');
    expect(operators({ '-dither': true, '+dither': true, '-colors': 16 })).toMatch(
      /^BAD_PARAMETER: The order/,
    );
  });

  it.each([
    [FORM, 'page.png'],
    [{ ...FORM, fields: { key: `a/\${filename}` } }, 'page-%d.png'],
    [{ url: 'https://bucket.example.com/a?X-Amz-Signature=1' }, 'page.png'],
    [{ url: 'https://bucket.example.com/a?X-Amz-Signature=1' }, 'pages.png.zip'],
  ])('may upload with %j to %s', (upload, outfile) => {
    expect(readEvent(pdftools, event({ upload, outfile })).upload).toEqual(upload);
  });

  it('reports every mistake in one error', () => {
    const text = mistake({
      version: 2,
      infile: 'ftp://x',
      outfile: 'a.docx',
      options: { '-r': 5, '-q-x': 1, '-x': { a: 1 } },
      upload: { url: 'mailto:a@b' },
      grants: {},
    });

    for (const part of ["'version'", "'grants'", "'infile'", "'outfile'", "'-r'", "'-q-x'", "'options.-x'"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("'upload.url'");
    expect(text).toMatch(/^BAD_PARAMETER: Field 'version' must be the number 1, got '2'\./);
  });

  it.each([
    ['nothing', undefined, "Field 'version'"],
    ['a text', 'convert', "Parameter 'infile' is missing"],
    ['an array', [event()], "Field 'version'"],
    ['another version', event({ version: '1' }), "Field 'version' must be the number 1"],
    ['no source', { version: 1, outfile: 'a.png' }, "MISSING_PARAMETER: Parameter 'infile' is missing."],
    ['a source that is no text', event({ infile: 1 }), "BAD_ADDRESS: Parameter 'infile' must be"],
    ['a list as the source', event({ infile: [{}] }), "Field 'infile' must be a string"],
    [
      'a part of the source among the options',
      event({ options: { token: 'a' } }),
      "UNKNOWN_PARAMETER: Unknown option 'token'",
    ],
    [
      'a parameter of the router among the options',
      event({ options: { _response: 'file' } }),
      "Field 'options' must not contain a parameter that is no option, got '_response'.",
    ],
    ['a format of another tool', event({ outfile: 'a.gif' }), 'UNSUPPORTED_CONVERSION'],
    ['a mistyped option', event({ options: { '-grey': true } }), "Did you mean '-gray'?"],
    ['a refused option', event({ options: { '-displayprofile': 'a' } }), "'-displayprofile'"],
    ['an option twice', event({ options: { '-r': [72, 73] } }), "'-r' must be given at most once"],
    ['a rule between options', event({ outfile: 'a.jpg', options: { '-transp': true } }), 'transparency'],
    ['options that are an array', event({ options: [] }), "Field 'options' must be an object"],
    [
      'an upload with another field',
      event({ upload: { ...FORM, method: 'PUT' } }),
      "UNKNOWN_PARAMETER: Unknown field 'upload.method'. Allowed fields: url, fields.",
    ],
    ['a form without a key', event({ upload: { ...FORM, fields: {} } }), "must contain the form's 'key'"],
    [
      'a form with numbers',
      event({ upload: { ...FORM, fields: { key: 1 } } }),
      'must be an object of strings',
    ],
    ['a PUT URL for pages', event({ upload: { url: 'https://b/a' }, outfile: 'p-%d.png' }), 'takes one file'],
    [
      'one key for pages',
      event({ upload: FORM, outfile: 'p-%d.png' }),
      `must have a 'key' with \${filename}`,
    ],
  ])('is rejected with %s', (_, given, text) => {
    expect(mistake(given)).toContain(text);
  });
});

describe("the router's event", () => {
  const invocation = {
    tool: 'pdftools',
    source: 'https://example.com/a.pdf',
    options: {},
    grant: {},
    limits: {},
    outputName: { kind: 'one', name: 'a.png' },
  };

  it('is distinguished from a public event', () => {
    expect(isInvocation(pdftools, invocation)).toBe(true);
    expect(isInvocation(pdftools, event())).toBe(false);
  });

  it.each([{ tool: 'html2pdf' }, { grant: [] }, { limits: undefined }, { options: null }, { version: 1 }])(
    'is read as a public one with %o, so its mistakes are reported',
    (change) => {
      expect(isInvocation(pdftools, { ...invocation, ...change })).toBe(false);
      expect(mistake({ ...invocation, ...change })).toMatch(/^(BAD|UNKNOWN|MISSING)_PARAMETER: /);
    },
  );
});
