import fc, { type Arbitrary } from 'fast-check';
import type { Tool } from '../../../functions/shared/tool.ts';

type Pair = readonly [name: string, value: string];
type Fault = (pairs: readonly Pair[], tool: Tool) => Pair[];

const JUNK = [
  '',
  ' ',
  '-1',
  '1e9',
  'NaN',
  '0x10',
  '9'.repeat(40),
  '../../etc/passwd',
  '%00',
  '\u0000',
  '\r\nX-Evil: 1',
  '<script>alert(1)</script>',
  '{{7*7}}',
  "';--",
  '\ud83d\ude00',
  'a'.repeat(5000),
  '__proto__',
  'constructor',
  'toString',
];

/** Invalid URLs. */
const NO_ADDRESS = fc.constantFrom(
  'file:///etc/passwd',
  'ftp://example.com/',
  'javascript:1',
  'data:x',
  '//example.com',
  'example.com',
  'http://',
  'http://[::1',
  'https://exa mple/',
  'about:blank',
  '\\\\host\\share',
  '/etc/passwd',
);

const set = (name: string, value: string): Fault => {
  return (pairs) => [...pairs.filter(([given]) => given !== name), [name, value]];
};
const leaveOut = (name: string): Fault => {
  return (pairs) => pairs.filter(([given]) => given !== name);
};
const repeat = (name: string): Fault => {
  return (pairs) => [...pairs, ...pairs.filter(([given]) => given === name)];
};
const add = (name: string, value: string): Fault => {
  return (pairs) => [...pairs, [name, value]];
};
const addRefused = (choice: number): Fault => {
  return (pairs, { refused }) => [...pairs, [refused[choice % refused.length] ?? '--no-such', 'x']];
};
const breakOption = (choice: number, value: string): Fault => {
  return (pairs, { options }) => {
    const all = Object.values(options).flatMap(({ names }) => names);
    const names = all.filter((name) => !SOURCE_TEXT.includes(name));
    return [...pairs, [names[choice % names.length] ?? '--no-such', value]];
  };
};

const NAMES = fc.constantFrom('app', 'infile', 'outfile');
const NO_TOOL = [...JUNK, 'PDFTOOLS', 'html', '../doc2any'];
const NO_OUTPUT = [...JUNK, 'x', '.jpg', 'x.exe', 'x%d%d.gif', 'x.pdf.zip.zip', 'a/..', '..\\..\\x.'];
/** Options whose value may be CSS or HTML text, with any characters. */
const SOURCE_TEXT = ['--user-style-sheet', '--header-html', '--footer-html'];
/** No other option accepts a control character. */
const NO_VALUE = ['junk\u0001', '\u0000', '\ufffd\n'];

/** A fault that is invalid in any query. */
const fault: Arbitrary<Fault> = fc.oneof(
  NAMES.map(leaveOut),
  NAMES.map(repeat),
  fc.constantFrom(...NO_TOOL).map((value) => set('app', value)),
  NO_ADDRESS.map((value) => set('infile', value)),
  fc.constantFrom(...NO_OUTPUT).map((value) => set('outfile', value)),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.constantFrom(...JUNK))
    .map(([name, value]) => add(`--no-such-${name}`, value)),
  fc.nat().map(addRefused),
  fc.tuple(fc.nat(), fc.constantFrom(...NO_VALUE)).map(([choice, value]) => breakOption(choice, value)),
);

const spelled = (text: string, style: number) => {
  // An incomplete percent encoding, raw bytes, or correct encoding.
  if (style === 0) return encodeURIComponent(text.toWellFormed()).replace(/%[0-9A-F]/i, '%Z');
  if (style === 1) return text.replace(/[\s&#?]/g, '+');
  return encodeURIComponent(text.toWellFormed());
};

/** A valid query of any tool with at least one fault, encoded correctly or not, or random data with a valid key. */
export function brokenQuery(tools: readonly Tool[], apiKey: string): Arbitrary<string> {
  const tool = fc.constantFrom(...tools);
  const faults = fc.array(fault, { minLength: 1, maxLength: 4 });
  const written = fc.tuple(tool, faults, fc.constantFrom(2, 2, 2, 1, 0)).map(([chosen, wrong, style]) => {
    const good: Pair[] = [
      ['app', chosen.name],
      ['infile', 'http://example.com/source'],
      ['outfile', `result.${chosen.formats[0]}`],
    ];
    const pairs = wrong.reduce<readonly Pair[]>((sofar, apply) => apply(sofar, chosen), good);
    // The encoding must not repair the fault, so an unknown name is added.
    const kept: readonly Pair[] = style === 2 ? pairs : [...pairs, ['--no-such-option', '1']];
    return [
      `apikey=${apiKey}`,
      ...kept.map(([name, value]) => `${spelled(name, style)}=${spelled(value, style)}`),
    ].join('&');
  });
  const noise = fc
    .string({ unit: 'binary', maxLength: 300 })
    .map((text) => `apikey=${apiKey}&${encodeURI(text.toWellFormed())}`);
  const keyless = fc
    .string({ unit: 'grapheme-ascii', maxLength: 200 })
    .map((text) => text.replaceAll(' ', '+'));
  return fc.oneof(
    { arbitrary: written, weight: 6 },
    { arbitrary: noise, weight: 1 },
    { arbitrary: keyless, weight: 1 },
  );
}
