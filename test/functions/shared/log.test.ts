import { describe, expect, it } from 'vitest';
import { createApiKey } from '../../../functions/platform/keys.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { createLog, engineSays, describe as tell } from '../../../functions/shared/log.ts';
import { busiestTurn } from '../../helpers/processes.ts';

describe('the words of an engine', () => {
  it.each([
    [
      'qpdf',
      'WARNING: /tmp/x/SECRET.pdf (object 4 0, offset 12): expected endobj',
      'WARNING: … (object 4 0, offset 12): expected endobj',
    ],
    [
      'libxml2',
      "Entity: line 1: parser error : '<' not found\nSECRET error text\n      ^\n",
      'Entity: line 1: parser error : … not found',
    ],
    [
      'LibreOffice',
      'Dear SECRET,\nhow are you?\nError: cannot load `SECRET.doc`: "SECRET',
      'Error: cannot load …: …',
    ],
    [
      'a browser',
      "net error https://h.example/a?apikey=SECRET, can't read <SECRET>",
      "net error … can't read …",
    ],
    ['many', 'a error\nb error\nc error\nd error', 'b error | c error | d error'],
    ['a controller of terminals', 'error \x1b[31m red\u202e', 'error  [31m red'],
    ['nothing', 'SECRET\n', undefined],
  ])('are in the log without what is in the document: %s', (_, text, said) => {
    expect(engineSays(text)).toBe(said);
  });
});

describe('the log', () => {
  it('writes one line of JSON per event', () => {
    const lines: string[] = [];

    createLog((line) => lines.push(line))('converted', { tool: 'pdftools', text: 'a\nb' });

    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({ event: 'converted', tool: 'pdftools', text: 'a\nb' });
  });

  it.each(['json', 'pretty'] as const)('escapes what controls a terminal, as %s', (format) => {
    const lines: string[] = [];
    const text = '微软雅黑 \x1b[31m\x7f\x9b2J\u202eabc\u2028\r\n';

    createLog((line) => lines.push(line), { format })('failed', { text });

    expect(lines[0]).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u);
    if (format === 'json') expect(JSON.parse(lines[0]!)).toMatchObject({ text });
  });

  it('describes the chain of causes', () => {
    const thrown = new Error('outer', { cause: new TypeError('inner', { cause: 'core' }) });

    expect(tell(thrown)).toBe('Error: outer < TypeError: inner < core');
  });

  it('removes the query of URLs, which may contain a signature or a key', () => {
    const thrown = new Error(
      "fetch 'https://x.example/a?apikey=SECRET&b=1' failed, http://y.example/?t=SECRET",
    );

    expect(tell(thrown)).toBe("Error: fetch 'https://x.example/… failed, http://y.example/…");
  });

  it.each([
    ['another scheme', "got 'ftp://host.example/x?token=SECRET'", "got 'ftp://host.example/…"],
    ['a path with a quote', "https://x.example/it's/a.png?token=SECRET", 'https://x.example/…'],
    ['a password', 'https://user:SECRET@x.example/a and more', 'https://x.example/… and more'],
    ['a password with an at sign', 'https://user:a@SECRET@x.example:8080', 'https://x.example:8080/…'],
    ['an API key', `expected ${createApiKey()}(`, 'expected …('],
    [
      'a name in XML',
      'XML parse error: line 2 of data: mismatch: SECRET',
      'XML parse error: line 2 of data: …',
    ],
    ['an API key in lower case', `expected ${createApiKey().toLowerCase()}`, 'expected …'],
  ])('leaves the secrets out of a message with %s', (_, message, told) => {
    expect(tell(new Error(message))).toBe(`Error: ${told}`);
  });

  it('leaves out what callers are told, which may quote anything', () => {
    const cause = new Error('connect ECONNREFUSED');
    const thrown = new ConversionError('SOURCE_STATUS', "The page says 'SECRET'.", { cause });

    expect(tell(thrown)).toBe('ConversionError: SOURCE_STATUS < Error: connect ECONNREFUSED');
    expect(tell(new ConversionError('INTERNAL', 'Internal error.'))).toBe('ConversionError: Internal error.');
  });

  it('ends for anything that was thrown', () => {
    const circular = new Error('round');
    circular.cause = circular;

    expect(tell(circular)).toBe(Array.from({ length: 5 }, () => 'Error: round').join(' < '));
    expect(tell('x'.repeat(10_000))).toHaveLength(2000);
  });

  it('takes no time for long words', async () => {
    const words = ['x'.repeat(1e6), 'x://'.repeat(1e5), 'x://x@'.repeat(1e5), '"x:/'.repeat(1e5)];

    // Quadratic time would be minutes.
    for (const word of words) expect((await busiestTurn(async () => tell(word))).total).toBeLessThan(2000);
  });
});
