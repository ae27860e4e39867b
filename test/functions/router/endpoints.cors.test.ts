import { expect, it } from 'vitest';
import { corsHeaders, preflightReply } from '../../../functions/router/endpoints.ts';
import { headerOf } from './header.ts';

const from = (origin: string, method = 'GET') => ({ method, header: headerOf({ origin }) });

it('sends no header while it is off', () => {
  expect(corsHeaders(from('https://a.example'))).toEqual({});
  expect(preflightReply(from('https://a.example', 'OPTIONS'))).toBeUndefined();
});

it('names only an origin that is allowed', () => {
  const allowed = ['https://a.example', 'https://b.example'];

  expect(corsHeaders(from('https://b.example'), allowed)).toMatchObject({
    'Access-Control-Allow-Origin': 'https://b.example',
    Vary: 'Origin',
  });
  expect(corsHeaders(from('https://c.example'), allowed)).toEqual({ Vary: 'Origin' });
  expect(corsHeaders(from('https://c.example'), ['*'])).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
});
