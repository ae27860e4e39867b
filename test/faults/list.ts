import type { Fault } from './fault.ts';
import { aws } from './list/aws.ts';
import { egress } from './list/egress.ts';
import { engines } from './list/engines.ts';
import { keysAndLimits } from './list/keys-and-limits.ts';
import { options } from './list/options.ts';
import { routerAndReplies } from './list/router-and-replies.ts';
import { sandbox } from './list/sandbox.ts';
import { storage } from './list/storage.ts';

interface Area {
  readonly faults: readonly Fault[];
  /** Number of faults that the first ring did not notice when this was last measured. It must not grow. */
  readonly unnoticed: number;
}

export const AREAS: Readonly<Record<string, Area>> = {
  options: { faults: options, unnoticed: 0 },
  egress: { faults: egress, unnoticed: 0 },
  sandbox: { faults: sandbox, unnoticed: 0 },
  'keys-and-limits': { faults: keysAndLimits, unnoticed: 0 },
  'router-and-replies': { faults: routerAndReplies, unnoticed: 0 },
  engines: { faults: engines, unnoticed: 0 },
  storage: { faults: storage, unnoticed: 0 },
  aws: { faults: aws, unnoticed: 0 },
};
