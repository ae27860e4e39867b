import { describe, expect, it } from 'vitest';
import { checkPlaces, isPrefix, readPlace, readTarget } from '../../../functions/buckets/places.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';

const LONG = 'ü'.repeat(512);

describe('the URL of an object', () => {
  it.each([
    ['s3://files/a.pdf', { bucket: 'files', key: 'a.pdf' }],
    ['s3://my.files-2/a b/%20/c+d.pdf', { bucket: 'my.files-2', key: 'a b/%20/c+d.pdf' }],
    ['s3://files/日本語?a=1#b', { bucket: 'files', key: '日本語?a=1#b' }],
    ['s3://files/...', { bucket: 'files', key: '...' }],
    [`s3://files/${LONG}`, { bucket: 'files', key: LONG }],
  ])('has its key as it is: %s', (url, place) => {
    expect(readPlace(url)).toEqual(place);
  });

  it.each([
    's3://files',
    's3://files/',
    's3:///a.pdf',
    'S3://files/a.pdf',
    's3:/files/a.pdf',
    ' s3://files/a.pdf',
    's3://files//a.pdf',
    's3://files/in//a.pdf',
    's3://files/in/',
    's3://files/in/../a.pdf',
    's3://files/..',
    's3://files/./a.pdf',
    's3://files/in/%2e%2E/a.pdf',
    's3://files/in/.%2e/a.pdf',
    's3://files/in%2f..%2fa.pdf',
    's3://files/in/..\\a.pdf',
    's3://files/in\\a.pdf',
    's3://files/in%5c..%5ca.pdf',
    's3://files/a\0.pdf',
    's3://files/a\n.pdf',
    's3://files/\ud800.pdf',
    `s3://files/${LONG}a`,
    's3://fi/a.pdf',
    's3://Files/a.pdf',
    's3://my_files/a.pdf',
    's3://my..files/a.pdf',
    's3://-files/a.pdf',
    's3://files-/a.pdf',
    's3://192.168.0.1/a.pdf',
    's3://user:secret@files/a.pdf',
    's3://files:443/a.pdf',
    `s3://${'a'.repeat(64)}/a.pdf`,
    's3://arn:aws:s3:us-east-1:123456789012:accesspoint/files/object/a.pdf',
    's3://files-abcdefghijklmnopqrstuvwxyz0123456-s3alias/a.pdf',
    's3://files--ol-s3/a.pdf',
    's3://files--use1-az4--x-s3/a.pdf',
    's3://abcdefghijklm.mrap/a.pdf',
    's3://xn--files/a.pdf',
  ])('is not %j', (url) => {
    expect(readPlace(url)).toBeUndefined();
  });
});

it.each([
  ['s3://files/', true],
  ['s3://files/in/', true],
  ['s3://files/in', false],
  ['s3://files', false],
  ['s3://', false],
  ['s3://files//', false],
  ['s3://files/in/../', false],
  ['s3://files/*', false],
])('tells whether %s is a prefix', (url, is) => {
  expect(isPrefix(url)).toBe(is);
});

const check = checkPlaces([
  { url: 's3://files/in/', access: 'read' },
  { url: 's3://files/out/', access: 'write' },
  { url: 's3://both/', access: 'both' },
]);
const codeOf = (work: () => unknown) => {
  try {
    work();
    return 'OK';
  } catch (thrown) {
    return thrown instanceof ConversionError ? `${thrown.code} ${thrown.parameter}` : thrown;
  }
};

it.each([
  ['s3://files/in/a.pdf', 'OK', 'BLOCKED_ADDRESS infile'],
  ['s3://files/out/a.pdf', 'BLOCKED_ADDRESS infile', 'OK'],
  ['s3://both/in/out/a.pdf', 'OK', 'OK'],
  ['s3://files/inner/a.pdf', 'BLOCKED_ADDRESS infile', 'BLOCKED_ADDRESS infile'],
  ['s3://files/in', 'BLOCKED_ADDRESS infile', 'BLOCKED_ADDRESS infile'],
  ['s3://files/IN/a.pdf', 'BLOCKED_ADDRESS infile', 'BLOCKED_ADDRESS infile'],
  ['s3://both.files/a.pdf', 'BLOCKED_ADDRESS infile', 'BLOCKED_ADDRESS infile'],
  ['s3://files/in/../out/a.pdf', 'BAD_PARAMETER infile', 'BAD_PARAMETER infile'],
])('lets an account use %s only below its prefixes', (url, read, write) => {
  expect([codeOf(() => check(url, 'read', 'infile')), codeOf(() => check(url, 'write', 'infile'))]).toEqual([
    read,
    write,
  ]);
});

it.each([
  ['s3://files/out/', 'OK'],
  ['s3://files/out/2026/', 'OK'],
  ['s3://files/', 'BLOCKED_ADDRESS'],
  ['s3://files/out', 'BAD_PARAMETER'],
  ['s3://files/out/a.png', 'BAD_PARAMETER'],
  ['https://files.example/out/', 'BAD_PARAMETER'],
  [`s3://both/${'a'.repeat(1018)}/`, 'OK'],
  [`s3://both/${'a'.repeat(1019)}/`, 'BAD_PARAMETER'],
])('takes %s as a target, with the name of the result', (to, code) => {
  expect(
    String(codeOf(() => readTarget(to, { outputName: { kind: 'one', name: 'a.png' } }, check))).split(' ')[0],
  ).toBe(code);
});
