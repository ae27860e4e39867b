import { describe, expect, it } from 'vitest';
import { optionNamed } from '../../../functions/shared/options/read-options.ts';
import * as all from '../../../functions/tools.ts';
import { OWN_NAMES, readCommand, UsageError } from '../../../infra/convert/command.ts';

const tools = Object.values(all);
const read = (...args: string[]) => readCommand(args, tools);

describe('readCommand', () => {
  it('separates inputs, its own options, and those of the tools', () => {
    const command = read(
      'a.pdf',
      '-r',
      '200',
      '--to=b/',
      'c d.pdf',
      '--format',
      '.png',
      '--cookie',
      'a',
      'b',
      '--',
      '-x.pdf',
    );

    expect(command).toMatchObject({
      inputs: ['a.pdf', 'c d.pdf', '-x.pdf'],
      to: 'b/',
      format: 'png',
      options: [
        { name: '-r', value: '200' },
        { name: '--cookie', value: 'a:b' },
      ],
    });
  });

  it('keeps the order of options, and takes no input for a switch', () => {
    const { options, inputs } = read('-strip', 'a.png', '-resize=50%', '-rotate', '-90', '--to', 'b.png');

    expect(inputs).toEqual(['a.png']);
    expect(options.map(({ name, value }) => `${name}=${value}`)).toEqual([
      '-strip=',
      '-resize=50%',
      '-rotate=-90',
    ]);
  });

  it('reads the hyphen as standard input, and in_ext', () => {
    expect(read('-', 'in_ext=.csv', '--to', 'a.pdf')).toMatchObject({
      inputs: ['-'],
      options: [{ name: 'in_ext', value: '.csv' }],
    });
  });

  it.each([
    [['a.png', '--to', 'b.jpg', '--heigth', '5'], "Unknown option '--heigth'. Did you mean '--height'?"],
    [['a.png'], 'Give --to and the name of the result, or of a directory.'],
    [['--to', 'b.jpg'], 'Give at least one input.'],
    [['a.png', '--to'], '--to needs a value.'],
    [['a.png', '--to', 'b.jpg', '-resize'], '-resize needs a value.'],
    [['a.png', '--to', 'b/', '--jobs', '65'], "--jobs must be an integer from 1 to 64, got '65'."],
    [
      ['a.png', '--to', 'b.jpg', '--app', 'x'],
      `--app must be one of ${tools.map(({ name }) => name).join(', ')}, auto, got 'x'.`,
    ],
    [
      ['a.png', '--to', 'b.jpg', '--url', 'example.com'],
      "--url must be the http or https URL of a service, got 'example.com'.",
    ],
  ])('rejects %j', (args, message) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow(message);
  });

  it('has no option that one of a tool needs', () => {
    const names = tools.flatMap((tool) => OWN_NAMES.filter((name) => optionNamed(tool, name)));

    expect(names).toEqual([]);
  });
});
