import { expect, it } from 'vitest';
import { jobOf } from '../../../../functions/engines/pdf/qpdf.ts';

const FILES = { source: 'a.pdf', target: 'b.pdf' };

it('encrypts with a random owner password, so that permissions bind whoever knows the user password', () => {
  const passwords = [1, 2].map(() => {
    const { encrypt } = jobOf(FILES, { encrypt: { userPassword: 'open' } }) as {
      encrypt: { ownerPassword: string };
    };
    return encrypt.ownerPassword;
  });

  expect(passwords[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(passwords[1]).not.toBe(passwords[0]);
});

it('draws the first page of a stamp over every page', () => {
  expect(jobOf(FILES, { stamp: { path: 's.pdf' } })).toMatchObject({
    overlay: [{ file: 's.pdf', from: '1', repeat: '1' }],
  });
});

it('removes usage rights, which a rewritten PDF no longer has, even if it is encrypted', () => {
  const edits = [{ decrypt: true }, { decrypt: true, encrypt: { userPassword: 'open' } }];

  for (const edit of edits) expect(jobOf(FILES, edit)).toHaveProperty('removeRestrictions');
});
