// Runs the attack of one module inside a network namespace, and reports its progress on file descriptor 3.
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { createCanary } from '../checks/canary.ts';
import { oneMachine } from '../deployment/one-machine.ts';
import type { Verdict } from '../neighbor/verdict.ts';
import { watched, withVerdicts } from '../neighbor/watch.ts';
import { amounts, type Effort, type Extent, type Reached, type Row } from '../row.ts';
import type { NamespaceMessage } from './run.ts';

const [module, extent] = process.argv.slice(2);
const { inside } = (await import(module!)) as { inside: Row['run'] };
const canary = createCanary();
const tell = (message: NamespaceMessage) => writeSync(3, `${JSON.stringify(message)}\n`);
const effort: Effort = {
  ...amounts(extent as Extent),
  progress: (done, total) => tell({ progress: [done, total] }),
  canary,
  deployment: oneMachine,
};
const verdicts: Verdict[] = [];
const reached: Reached = await inside(watched(effort, verdicts)).catch((thrown: unknown) => ({
  figure: 'broken off',
  failures: [inspect(thrown, { depth: 4 })],
}));
tell({ reached: withVerdicts(reached, verdicts), inspected: canary.inspected, found: canary.found });
process.exit(0);
