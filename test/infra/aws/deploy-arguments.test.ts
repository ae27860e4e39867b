import { expect, it } from 'vitest';
import { deployArguments } from '../../../infra/aws/deploy-arguments.ts';

const asked = { hasTerminal: true };

it.each([
  [[], []],
  [
    ['--stage', 'dev'],
    ['-c', 'stage=dev'],
  ],
  [
    ['--stage=dev', '--settings', 'a.json', '--verbose'],
    ['--verbose', '-c', 'stage=dev', '-c', 'settings=a.json'],
  ],
  [['--update', '--verbose'], ['--verbose']],
  [
    ['-c', 'stage=dev', '--require-approval', 'never'],
    ['-c', 'stage=dev', '--require-approval', 'never'],
  ],
])('turns %j into arguments of the CDK', (given, expected) => {
  expect(deployArguments(given, asked)).toEqual(expected);
});

it('asks for no approval where nobody can give it', () => {
  expect(deployArguments([], { hasTerminal: false })).toEqual(['--require-approval', 'never']);
  expect(deployArguments(['--require-approval=broadening'], { hasTerminal: false })).toEqual([
    '--require-approval=broadening',
  ]);
});

it('refuses a stage without a name', () => {
  expect(() => deployArguments(['--stage'], asked)).toThrow('--stage needs a value.');
});
