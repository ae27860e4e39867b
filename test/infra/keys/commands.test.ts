import { describe, expect, it } from 'vitest';
import * as tools from '../../../functions/tools.ts';
import { UsageError } from '../../../infra/keys/arguments.ts';
import { readCommand } from '../../../infra/keys/commands.ts';

const TOOLS = Object.keys(tools);

describe('a mistake on the command line', () => {
  it.each([
    [['frobnicate'], "Unknown command 'frobnicate'."],
    [['create'], '--name must have 1 to 100 characters, without control characters.'],
    [['create', '--name', 'a\u2028b'], '--name must have 1 to 100 characters, without control characters.'],
    [['create', '--name', 'a\u202eb'], '--name must have 1 to 100 characters, without control characters.'],
    [
      ['create', '--name', 'x', '--expires', 'soon'],
      "--expires must be a duration such as 90d or 24h, got 'soon'.",
    ],
    [['create', '--name', 'x', '--expires', '0d'], "--expires must be more than zero, got '0d'."],
    [['create', '--name', 'x', '--expires', '-1d'], '--expires needs a value.'],
    [
      ['import', '--name', 'x', '--hash', 'secret'],
      '--hash must be the SHA-256 of the key: 64 hexadecimal digits.',
    ],
    [['create', '--name', 'x', '--tools'], '--tools needs a value.'],
    [['create', '--name', 'x', '--tools', 'fax'], '--tools must be a comma-separated list of'],
    [['limits', 'key_0123456789'], 'Give at least one of --per-minute'],
    [['limits', 'key_0123456789', '--tools', 'fax'], '--tools must be a comma-separated list of'],
    [['list', '--csv'], "The command 'list' has no option --csv."],
    [['show'], "The command 'show' needs the ID of a key"],
  ])('%j is named', (args, message) => {
    expect(() => readCommand(args, TOOLS)).toThrow(UsageError);
    expect(() => readCommand(args, TOOLS)).toThrow(message);
  });

  it('does not repeat an API key that was given instead of an ID', () => {
    expect(() => readCommand(['revoke', 'ABCDEFG-HJKMNPQ-RSTVWXY-Z012345'], TOOLS)).toThrow(
      "'ABCD…' is not a key ID",
    );
  });
});
