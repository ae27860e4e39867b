import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEvent } from '../../../../functions/platform/aws/lambda/direct/read-event.ts';
import * as tools from '../../../../functions/tools.ts';
import { EVENTS } from '../../../../infra/aws/smoke/direct.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../../infra/aws/README.md'), 'utf8');

it('has an event for each tool in the smoke test', () => {
  expect(Object.keys(EVENTS).sort()).toEqual(Object.keys(tools).sort());
});

it("runs the `aws lambda invoke` lines of the operator's guide in the smoke test", () => {
  const lines = [...GUIDE.matchAll(/--function-name <(\w+)Function> .*\\\n\s+--payload '(.+?)' /g)];

  expect(lines.length).toBeGreaterThan(0);
  for (const [, tool = '', payload = ''] of lines) {
    const { infile, ...event } = JSON.parse(payload) as { infile: string };
    expect(event).toEqual(EVENTS[tool]);
    expect(
      readEvent(Object.values(tools).find(({ name }) => name === tool)!, { infile, ...event }),
    ).toBeDefined();
  }
});
