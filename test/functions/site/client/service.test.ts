import { expect, it, onTestFinished, vi } from 'vitest';
import { readRequest } from '../../../../functions/conversion/request.ts';
import { callOf, convert, hashOf, readHash } from '../../../../functions/site/client/service.ts';
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

/** Replies to every request in the place of a proxy or of the service. */
function replying(status: number, type: string, text: string): void {
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      readonly upload = {};
      readonly status = status;
      readonly responseText = text;
      onload = () => {};
      open() {}
      setRequestHeader() {}
      send() {
        this.onload();
      }
      getResponseHeader = (name: string) => (name === 'Content-Type' ? type : null);
    },
  );
  vi.stubGlobal('fetch', async () => new Response(text, { status, headers: { 'Content-Type': type } }));
  onTestFinished(() => void vi.unstubAllGlobals());
}

it.each([
  [413, 'text/html', '<html>413 Request Entity Too Large</html>', /^This file is too large/],
  [502, 'text/html', '<html>nginx</html>', /^The web server replied with status 502\./],
  [504, 'text/plain', 'upstream request timeout', /^The web server .* 504\./],
  [200, 'text/html', '<p>Sign in to the network</p>', /^The web server .* 200\./],
  [
    431,
    'text/plain',
    '[ERROR] A header is too long. (BAD_PARAMETER)',
    /^A header is too long\. \(BAD_PARAMETER\)$/,
  ],
  [413, 'application/json', '{"detail":"Too large.","code":"SOURCE_TOO_LARGE"}', /^Too large\.$/],
])('shows a sentence for a reply with status %i and type %s', async (status, type, text, sentence) => {
  replying(status, type, text);
  const call = { key: 'K', signal: new AbortController().signal, onSent: () => {} };
  const sources = [['infile', new File(['content'], 'a.docx')]] as const;

  const ends = [
    await convert({ url: 'https://a.example/api/?outfile=a.pdf' } as never, call),
    await convert({ url: 'https://a.example/api/?outfile=a.pdf' } as never, { ...call, sources, maxBody: 1 }),
  ];

  const told = ends.map(({ errors }) => errors[0]?.detail);
  expect(told[0]).toMatch(sentence);
  if (status >= 400) expect(told[1]).toMatch(sentence);
});
