import { expect, it } from 'vitest';
import { isAllowed, type Statement } from './iam.ts';

const STATEMENTS: readonly Statement[] = [
  { effect: 'Allow', actions: ['s3:GetObject', 's3:PutObject'], resources: ['arn:aws:s3:::results/*'] },
  { effect: 'Allow', actions: ['s3:DeleteObject'], resources: ['arn:aws:s3:::results/uploads/*'] },
  { effect: 'Allow', actions: ['lambda:*'], resources: ['arn:aws:lambda:*:*:function:pdftools:?'] },
  { effect: 'Deny', actions: ['s3:PutObject'], resources: ['arn:aws:s3:::results/locked/*'] },
];

it.each([
  ['s3:GetObject', 'arn:aws:s3:::results/a/b.png', true],
  ['S3:getobject', 'arn:aws:s3:::results/a/b.png', true],
  ['s3:GetObject', 'arn:aws:s3:::other/a', false],
  ['s3:GetObject', 'arn:aws:s3:::results', false],
  ['s3:ListBucket', 'arn:aws:s3:::results', false],
  ['s3:DeleteObject', 'arn:aws:s3:::results/uploads/x/a', true],
  ['s3:DeleteObject', 'arn:aws:s3:::results/x/a', false],
  ['s3:PutObject', 'arn:aws:s3:::results/locked/a', false],
  ['lambda:InvokeFunction', 'arn:aws:lambda:us-east-1:1:function:pdftools:1', true],
  ['lambda:InvokeFunction', 'arn:aws:lambda:us-east-1:1:function:pdftools', false],
  ['lambda:InvokeFunction', 'arn:aws:lambda:us-east-1:1:function:doc2any:1', false],
])('decides about %s on %s: %s', (action, resource, allowed) => {
  expect(isAllowed(STATEMENTS, { action, resource })).toBe(allowed);
});
