import { describe, expect, it } from 'vitest';
import { doc2any } from '../../../../functions/doc2any/tool.ts';
import { encryptionOf } from '../../../../functions/engines/pdf/finish-options.ts';
import { html2pdf } from '../../../../functions/html2pdf/tool.ts';
import { defaultsOf, readOptions } from '../../../../functions/shared/options/read-options.ts';

const defaults = defaultsOf(doc2any.options);

describe.each([doc2any, html2pdf])('the options of $name', (tool) => {
  it.each(['--allow-copy', '--copy'])('take %s as the same option', (name) => {
    const { options, issues } = readOptions(tool, [{ name, value: 'off' }], 'pdf');

    expect(issues).toEqual([]);
    expect(options.copy).toBe(false);
  });

  it.each(['--encrypt', '--owner-password'])('take up to 127 bytes for %s', (name) => {
    const read = (value: string) => readOptions(tool, [{ name, value }], 'pdf').issues;

    for (const value of ['x'.repeat(127), 'ä'.repeat(63)]) expect(read(value)).toEqual([]);
    for (const value of ['x'.repeat(128), 'ä'.repeat(64)]) {
      expect(read(value).map(({ message }) => message)).toEqual([
        expect.stringContaining(`Parameter '${name}' must be text of 1 to 127 bytes`),
      ]);
    }
  });
});

describe('encryptionOf', () => {
  it('does not encrypt by default', () => {
    expect(encryptionOf(defaults)).toBeUndefined();
  });

  it.each([
    { encrypt: 'open' },
    { ownerPassword: 'own' },
    { print: 'low' as const },
    { modify: 'form' as const },
    { copy: false },
  ])('encrypts for %o', (given) => {
    expect(encryptionOf({ ...defaults, ...given })).toMatchObject({ userPassword: given.encrypt ?? '' });
  });

  it('prefers permissions that were read elsewhere', () => {
    const permissions = { print: 'none', modify: 'all', extract: true } as const;

    expect(encryptionOf({ ...defaults, copy: false }, permissions)).toEqual({
      userPassword: '',
      permissions,
    });
  });
});
