import { expect, it } from 'vitest';
import { choice, integer, list, readAll, text } from '../../../../functions/shared/settings/define.ts';

const SETTINGS = {
  PORT: integer('port', { min: 0, max: 65_535, absent: 3000 }),
  SIGN_UP: choice('who', { words: ['open', 'off'], absent: 'off' }),
  LIMIT_PER_MONTH: integer('limit', { min: 0, max: 10, absent: undefined }),
  OWN_HOSTS: list('hosts', { rule: 'host names', isValid: (part) => /^\w+$/.test(part) }),
  SMTP_URL: text('server', {
    absent: undefined,
    isSecret: true,
    rule: 'a URL',
    isValid: (value) => URL.canParse(value),
  }),
};

it('reads values, and the default of those that are absent or empty', () => {
  const read = readAll(SETTINGS, { PORT: ' 80 ', SIGN_UP: '', OWN_HOSTS: 'a, b,', PATH: '/bin' });

  expect(read).toEqual({
    PORT: 80,
    SIGN_UP: 'off',
    LIMIT_PER_MONTH: undefined,
    OWN_HOSTS: ['a', 'b'],
    SMTP_URL: undefined,
  });
});

it('reports all mistakes together, and names that are almost those of settings', () => {
  const environment = {
    PORT: 'x',
    SIGN_UP: 'maybe',
    OWN_HOSTS: 'a,-',
    SMTP_URL: 'mail',
    SMTP_URI: 'smtp://a',
    LIMIT_PER_WEEK: '5',
    PORTS: '1',
    HOME: '/root',
    LOGNAME: 'root',
  };

  expect(() => readAll(SETTINGS, environment)).toThrow(
    [
      "Setting PORT must be an integer from 0 to 65535, got 'x'.",
      "Setting SIGN_UP must be open or off, got 'maybe'.",
      "Setting OWN_HOSTS must be host names, got 'a,-'.",
      'Setting SMTP_URL must be a URL.',
      'There is no setting SMTP_URI. Did you mean SMTP_URL?',
      'There is no setting LIMIT_PER_WEEK. Did you mean LIMIT_PER_MONTH?',
    ].join('\n'),
  );
});
