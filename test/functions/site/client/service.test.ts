import { expect, it } from 'vitest';
import { readRequest } from '../../../../functions/conversion/request.ts';
import { callOf, hashOf, readHash } from '../../../../functions/site/client/service.ts';
import * as tools from '../../../../functions/tools.ts';

it('restores every option of a call, but no key', () => {
  const state = {
    app: 'doc2any',
    infile: 'https://example.com/a',
    outfile: 'a.pdf',
    options: new Map([
      ['in_ext', ['.csv']],
      ['--landscape', ['1']],
    ]),
  };

  const hash = `${hashOf(state)}&apikey=secret&_key=secret`;

  expect(readHash(hash, 'pdftools', ['in_ext', '--landscape'])).toEqual(state);
});

const state = {
  app: 'imageproc',
  infile: 'https://example.com/a.png',
  outfile: 'a.jpg',
  options: new Map([
    ['-crop', ['50x50+0+0']],
    ['-annotate', ['it\'s \\ a "text"']],
    ['-strip', ['1']],
    ['-resize', ['200x', '-50']],
  ]),
};

/** Reads the options of a call whose parameters may have lost their order. */
function read(url: string) {
  const query = [...new URL(url).searchParams].map(([name, value]) => ({ name, value }));
  return readRequest(query, Object.values(tools), { unordered: query.length });
}

it('keeps the order of options in _args where it matters', () => {
  const { url } = callOf(state, 'https://a.example', { isOrdered: true });

  const words = new URL(url).searchParams.get('_args');
  expect(words).toMatch(/^-crop=50x50\+0\+0 '-annotate=.*' -strip=1 -resize=200x -resize=-50$/);
});

it('quotes options in _args as a shell does', () => {
  const { url } = callOf(state, 'https://a.example', { isOrdered: true });

  expect(new URL(url).searchParams.get('_args')).toContain(`'-annotate=it'\\''s \\ a "text"'`);
});

it('composes a call whose order API Gateway cannot lose', () => {
  const options = new Map([
    ['-crop', ['50x50+0+0']],
    ['-resize', ['200x']],
  ]);
  const lost = callOf({ ...state, options }, 'https://a.example').url;
  const kept = callOf({ ...state, options }, 'https://a.example', { isOrdered: true }).url;

  expect(() => read(lost)).toThrow('_args');
  expect(() => read(kept)).not.toThrow();
});
