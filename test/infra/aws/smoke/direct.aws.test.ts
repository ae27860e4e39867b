import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEvent } from '../../../../functions/platform/aws/lambda/direct/run.ts';
import * as tools from '../../../../functions/tools.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../../infra/aws/README.md'), 'utf8');

it("accepts the `aws lambda invoke` lines of the operator's guide", () => {
  const lines = [...GUIDE.matchAll(/--function-name <(\w+)Function> .*\\\n\s+--payload '(.+?)' /g)];

  expect(lines.length).toBeGreaterThan(0);
  for (const [, tool = '', payload = ''] of lines) {
    const { [tool as keyof typeof tools]: called } = tools;
    expect(readEvent(called, JSON.parse(payload))).toBeDefined();
  }
});
