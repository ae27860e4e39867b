import type { Measured } from '../platform/invoke/invoke.ts';
import { describe } from '../shared/log.ts';
import { type CallFacts, measuredBy, type Trace, wasInvoked } from './call.ts';
import type { Dependencies } from './dependencies.ts';

const NOT_MEASURED: Measured = { sourceBytes: 0, resultBytes: 0, pages: 0, milliseconds: 0, steps: {} };

/** Counts a call for the account, if a tool may have been invoked. */
export async function recordUsage(
  facts: CallFacts,
  { usage, log }: Pick<Dependencies, 'usage' | 'log'>,
): Promise<void> {
  const { request, account, code, sharedWith } = facts;
  if (!request || account === undefined || !wasInvoked(facts)) return;
  const { steps: _steps, timed: _timed, ...measured } = measuredBy(facts) ?? NOT_MEASURED;
  const cached = sharedWith !== undefined || facts.cache === 'hit';
  await usage
    .record({ account, tool: request.tool.name, code, cached, coldStarts: 0, ...measured })
    .catch((thrown: unknown) => log('usage not recorded', { cause: describe(thrown) }, 'error'));
}

/** Records a failure for the account's pages. A caller who disconnected does not count. */
export async function recordFailure(
  { request, account, code }: CallFacts,
  { requestId }: Trace,
  { failures, log }: Pick<Dependencies, 'failures' | 'log'>,
): Promise<void> {
  if (!failures || account === undefined || code === 'OK' || code === 'CANCELLED') return;
  const tool = request && { tool: request.tool.name };
  await failures
    .record({ account, time: Date.now(), code, requestId, ...tool })
    .catch((thrown: unknown) => log('failure not recorded', { cause: describe(thrown) }, 'error'));
}
