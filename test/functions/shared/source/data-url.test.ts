import { expect, it } from 'vitest';
import { readSource } from '../../../../functions/shared/options/sources.ts';
import { readDataUrl } from '../../../../functions/shared/source/data-url.ts';

it.each([
  ['data:text/html,<p>1+1', 'text/html', '<p>1+1'],
  ['data:TEXT/HTML;charset=utf-8,%3Cp%3E%C3%A9', 'text/html', '<p>é'],
  ['data:,é,100%', 'text/plain', 'é,100%'],
  ['data:image/png;base64,AQID', 'image/png', '\x01\x02\x03'],
  ['data:text/plain;charset=utf-8;base64,Pz8/', 'text/plain', '???'],
  ['data:;base64,+/+/', 'text/plain', Buffer.from('+/+/', 'base64').toString()],
  ['data:;base64, / /', 'text/plain', Buffer.from('+/+/', 'base64').toString()],
  ['data:;base64,Pz8%2F', 'text/plain', '???'],
])('reads %s', (url, contentType, content) => {
  const read = readDataUrl(url);

  expect([read.contentType, read.content.toString()]).toEqual([contentType, content]);
});

it.each([
  ['data:text/html', 'BAD_ADDRESS'],
  ['data:', 'BAD_ADDRESS'],
  ['data:,', 'CORRUPT_SOURCE'],
  ['data:;base64,%%', 'BAD_ADDRESS'],
  ['data:;base64,AQ<ID', 'BAD_ADDRESS'],
])('rejects %s with %s', (url, code) => {
  expect(() => readDataUrl(url)).toThrow(expect.objectContaining({ code }));
});

it('names the option that a data URL belongs to', () => {
  for (const url of ['data:nothing', 'data:,'])
    expect(() => readDataUrl(url, '-fill')).toThrow(
      expect.objectContaining({ parameter: '-fill', message: expect.stringContaining("'-fill'") }),
    );
});

it.each([
  ['<h1>100% é & \ud800</h1>', 'text/html', '<h1>100% é & \ufffd</h1>'],
  ['\n <p>a', 'text/html', '\n <p>a'],
  ['<?xml version="1.0"?>\n<svg xmlns="x"/>', 'image/svg+xml', '<?xml version="1.0"?>\n<svg xmlns="x"/>'],
  ['<meta charset=latin1>é', 'text/html', '<meta charset=utf-8>é'],
  ['<meta content="a; charset=x-y" name=z>', 'text/html', '<meta content="a; charset=utf-8" name=z>'],
  ['<?xml encoding="utf-16"?><p>encoding="a"', 'text/html', '<?xml encoding="utf-8"?><p>encoding="a"'],
])('reads markup as the source: %s', (infile, contentType, content) => {
  const read = readDataUrl(readSource(infile));

  expect([read.contentType, read.content.toString()]).toEqual([contentType, content]);
});
