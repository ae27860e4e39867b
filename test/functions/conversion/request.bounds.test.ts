import { describe, expect, it } from 'vitest';
import { readRequest, requestFor } from '../../../functions/conversion/request.ts';
import { readEvent } from '../../../functions/platform/aws/lambda/direct/run.ts';
import { MAX_VALUES, type Option, type Parameter } from '../../../functions/shared/options/option.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';

const ALL: readonly Tool[] = Object.values(tools);
/** Maximum characters of a request's parameters. */
const MAX = 65_536;

const optionsOf = ({ options }: Tool) =>
  Object.values(options).flatMap((option): readonly Option<unknown>[] =>
    Object.values(option.readers ?? { option }),
  );

/** Returns a tool that counts what its options parse. */
function counted(tool: Tool): { readonly tool: Tool; readonly parsed: Parameter[] } {
  const parsed: Parameter[] = [];
  const watch = (option: Option<unknown>): Option<unknown> => ({
    ...option,
    ...(option.ignores && {
      ignores: (value, format) => {
        parsed.push({ name: 'ignores', value });
        return option.ignores!(value, format);
      },
    }),
    read: (pairs) => {
      parsed.push(...pairs);
      return option.read(pairs);
    },
  });
  const options = Object.fromEntries(
    Object.entries(tool.options).map(([key, option]) => [key, watch(option)]),
  );
  return { tool: { ...tool, options }, parsed };
}

const basics = (app: string, outfile: string): Parameter[] =>
  Object.entries({ app, infile: 'https://a.example/', outfile }).map(([name, value]) => ({ name, value }));

describe.each(ALL)('the options of $name', (tool) => {
  it.each(optionsOf(tool).flatMap((option) => option.names.map((name) => ({ name, option }))))(
    '$name parses no value that is too long',
    ({ name, option }) => {
      const watched = counted(tool);
      const { issues } = readOptions(watched.tool, [{ name, value: 'é'.repeat(option.maxLength + 1) }]);

      expect(option.maxLength).toBeLessThanOrEqual(MAX);
      expect(watched.parsed).toEqual([]);
      expect(issues[0]?.message).toBe(
        `Parameter '${name}' must have at most ${option.maxLength} characters, got ${option.maxLength + 1}.`,
      );
    },
  );

  it.each(Object.values(tool.options).filter(({ repeatable, names }) => repeatable && names.length > 0))(
    '$names.0 parses nothing if it is given too often',
    ({ names: [name] }) => {
      const watched = counted(tool);
      const given = Array.from({ length: MAX_VALUES + 1 }, () => ({ name: name!, value: '1' }));
      const { issues } = readOptions(watched.tool, given);

      expect(watched.parsed.filter((each) => each.name !== 'ignores')).toEqual([]);
      expect(issues.map(({ message }) => message).join()).toContain(`at most ${MAX_VALUES}`);
    },
  );
});

describe('the parameters of a request', () => {
  const long = (length: number): Parameter[] => [
    ...basics('pdftools', 'a.pdf'),
    ...Array.from({ length: 20 }, () => ({ name: '-metadata', value: `Title:${'a'.repeat(490)}` })),
    { name: '-stamp', value: `data:,${'a'.repeat(length)}` },
  ];
  const sizeOf = (query: readonly Parameter[]) =>
    query.reduce((sum, { name, value }) => sum + name.length + value.length, 0);

  it('are refused as a whole before anything is parsed', () => {
    const watched = counted(tools.pdftools);
    const most = long(MAX - sizeOf(long(0)));

    expect(() => readRequest([...most, { name: 'x', value: '' }], [watched.tool])).toThrow(
      'The parameters of a request may have at most 65536 characters in total, got 65537.',
    );
    expect(watched.parsed).toEqual([]);
    expect(readRequest(most, [watched.tool]).options.metadata).toHaveLength(20);
    expect(watched.parsed).toHaveLength(21);
  });

  it('of a direct event are bounded alike', () => {
    const options = { '-stamp': `data:,${'a'.repeat(MAX)}` };
    const event = { version: 1, infile: 'https://a.example/', outfile: 'a.pdf', options };

    expect(() => readEvent(tools.pdftools, event)).toThrow('at most 65536 characters in total');
  });

  it('count those in _args, too', () => {
    const watched = counted(tools.imageproc);
    const query = [...basics('imageproc', 'a.png'), { name: '_args', value: '-flip '.repeat(501) }];

    expect(() => readRequest(query, [watched.tool])).toThrow('A request may have at most 500 parameters.');
    expect(watched.parsed).toEqual([]);
  });

  it('are parsed once for each tool if the tool is chosen by the source', () => {
    const [pdf, image] = [counted(tools.pdftools), counted(tools.html2image)];
    const query = [...basics('auto', 'a.png'), { name: '-rotate', value: '90' }];
    const { choices } = readRequest(query, [pdf.tool, image.tool]);

    expect(requestFor(choices!, pdf.tool)).toMatchObject({ tool: pdf.tool, isAuto: true });
    expect(() => requestFor(choices!, image.tool)).toThrow("Unknown option '-rotate' for html2image.");
    expect(pdf.parsed).toHaveLength(1);
  });
});

it('reads an infile that was not encoded beside text that is not well-formed', () => {
  const [app, , outfile] = basics('pdftools', 'a.pdf');
  const query = [
    app!,
    { name: 'infile', value: 'https://a.example/?b' },
    { name: 'c', value: '\ud800' },
    outfile!,
  ];

  expect(readRequest(query, ALL).source).toBe('https://a.example/?b&c=%EF%BF%BD');
});

it('bounds all lists of pages of a repeated option together', () => {
  const given = (count: number) =>
    Array.from({ length: count }, () => ({ name: '-rotate', value: `90:${'1,'.repeat(49)}1` }));

  expect(readOptions(tools.pdftools, given(39), 'pdf').issues).toEqual([]);
  expect(readOptions(tools.pdftools, given(40), 'pdf').issues).toMatchObject([
    { message: "Parameter '-rotate' must have at most 4000 characters in all its values, got 4080." },
  ]);
});
