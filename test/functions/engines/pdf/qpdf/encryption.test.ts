import { describe, expect, it } from 'vitest';
import { doc2any } from '../../../../../functions/doc2any/tool.ts';
import { encryptionOf } from '../../../../../functions/engines/pdf/qpdf/encryption.ts';
import { html2pdf } from '../../../../../functions/html2pdf/tool.ts';
import { defaultsOf, readOptions } from '../../../../../functions/shared/options/read-options.ts';

const defaults = defaultsOf(doc2any.options);

describe.each([doc2any, html2pdf])('the options of $name', (tool) => {
  it.each(['--allow-copy', '--copy'])('take %s as the same option', (name) => {
    const { options, issues } = readOptions(tool, [{ name, value: 'off' }], 'pdf');

    expect(issues).toEqual([]);
    expect(options.copy).toBe(false);
  });

  it.each(['--encrypt', '--owner-password'])('take up to 127 characters for %s', (name) => {
    const read = (length: number) => readOptions(tool, [{ name, value: 'x'.repeat(length) }], 'pdf').issues;

    expect(read(127)).toEqual([]);
    expect(read(128).map(({ message }) => message)).toEqual([
      expect.stringContaining(`Parameter '${name}' must be text of 1 to 127 characters`),
    ]);
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
