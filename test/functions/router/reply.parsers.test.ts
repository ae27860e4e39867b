import { expect, it } from 'vitest';
import { outputReply } from '../../../functions/router/reply.ts';
import { tiny } from '../tiny-tool.ts';

const URL_OF_RESULT =
  'https://results.s3.us-east-1.amazonaws.com/0f/a%20b.png?X-Amz-Expires=3600&X-Amz-Signature=ab12';

/**
 * The ways in which programs in public repositories read the body. Those that keep the space before the URL pass it to an HTTP client
 * that removes it, as `new URL` does.
 */
const PARSERS: Readonly<Record<string, (body: string) => string | undefined>> = {
  'removes the marker, line breaks and spaces': (body) =>
    body.replaceAll('[Output]', '').replaceAll('<br>', '').replaceAll(' ', ''),
  'takes the text from the tenth to the fifth-last character': (body) => body.slice(9, -4),
  'takes the second word without its last four characters': (body) => body.split(' ')[1]?.slice(0, -4),
  'takes each part after a marker without its last four characters': (body) =>
    body.split('[Output]')[1]?.slice(0, -4).trim(),
  'takes the part after the last marker, and removes line breaks': (body) =>
    body.split('[Output]').at(-1)?.replaceAll('<br>', '').trim(),
  'takes the text between the marker with its space and a line break': (body) => {
    const start = body.indexOf('[Output] ');
    const end = body.indexOf('<br>', start);
    return start < 0 || end < 0 ? undefined : body.slice(start + 9, end);
  },
  'matches a regular expression': (body) => /^\[Output\]\s*(.+?)<br>/.exec(body)?.[1],
  'takes what begins with the scheme, until the first tag': (body) =>
    /https?:\/\/[^<\s]+(?=<)/.exec(body)?.[0],
  'takes the first line break as the end of a line': (body) =>
    body.split(/<br>/)[0]?.replace('[Output] ', ''),
  'removes all tags, and takes the last word': (body) =>
    body
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .split(' ')
      .at(-1),
};

const reply = async (urls: readonly string[]) => {
  const result = { ok: true, objectKeys: urls } as const;
  return (
    await outputReply({ tool: tiny, format: 'png', optionNames: [], ignored: [] }, result, {
      url: async (url) => url,
    })
  ).body;
};

it.each(Object.entries(PARSERS))('is read by a program that %s', async (_, parse) => {
  expect(parse(await reply([URL_OF_RESULT]))).toBe(URL_OF_RESULT);
});

it('is not read by all of them if any byte around the URL is changed, removed or added', async () => {
  const body = await reply([URL_OF_RESULT]);
  const start = body.indexOf(URL_OF_RESULT);
  const end = start + URL_OF_RESULT.length;
  const frame = [...Array(start).keys(), ...Array.from({ length: body.length - end }, (_, at) => end + at)];
  const changed = [
    ...frame.flatMap((at) => [
      body.slice(0, at) + body.slice(at + 1),
      `${body.slice(0, at)}x${body.slice(at + 1)}`,
      `${body.slice(0, at)}\n${body.slice(at)}`,
    ]),
    `${body}\n`,
    ` ${body}`,
    `\uFEFF${body}`,
  ];

  const unnoticed = changed.filter((text) =>
    Object.values(PARSERS).every((parse) => parse(text) === URL_OF_RESULT),
  );

  expect(unnoticed).toEqual([]);
});

it('is read page by page by programs that split it', async () => {
  const urls = ['https://e.example/1?a=1&b=2', 'https://e.example/2?a=1&b=2'];
  const body = await reply(urls);

  expect(
    body
      .split('<br>')
      .slice(0, -1)
      .map((part) => part.replace('[Output] ', '')),
  ).toEqual(urls);
  expect(
    body
      .split('[Output]')
      .slice(1)
      .map((part) => part.slice(0, -4).trim()),
  ).toEqual(urls);
});
