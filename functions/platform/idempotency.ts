import { createHash, randomUUID } from 'node:crypto';
import { ConversionError, ERRORS } from '../shared/errors.ts';
import { DAY } from '../shared/time.ts';
import type { InvocationResult } from './invoke.ts';
import type { Table } from './table.ts';

/** A request with an `Idempotency-Key`. */
interface IdempotentRequest {
  readonly account: string;
  /** The value of the header. */
  readonly key: string;
  /** Hash of everything that the result depends on. */
  readonly request: string;
  /** Epoch milliseconds after which the request is no longer running, even if it was never ended. */
  readonly until: number;
}

/**
 * Ends a running request. Keeps its result, unless the conversion failed through no fault of the caller: then the key can be
 * used again.
 */
type End = (result?: InvocationResult) => Promise<void>;

/** Keeps results of requests with an `Idempotency-Key` for a day, separately for each account. */
export interface Idempotency {
  /**
   * Returns the result of an earlier request with this key if `isUsable`. Otherwise this request is now running.
   * @throws ConversionError `REQUEST_IN_PROGRESS`, or `IDEMPOTENCY_KEY_REUSED` for the key of another request
   */
  begin(
    request: IdempotentRequest,
    isUsable: (result: InvocationResult) => Promise<boolean>,
  ): Promise<{ readonly kept: InvocationResult } | { readonly end: End }>;
  /** Deletes everything about an account, and returns the number of its keys. On AWS this reads the whole table. */
  erase(account: string): Promise<number>;
}

const PREFIX = 'idempotent#';

/** Keeps one item per key. Calls delete none, which the router on AWS may not do. */
export function createIdempotency(table: Table): Idempotency {
  const begun = (id: string, token: string): { readonly end: End } => ({
    async end(result) {
      const isKept = result && (result.ok || ERRORS[result.error.code].status < 500);
      const { measured: _, ...facts } = result ?? {};
      const set = isKept ? { result: JSON.stringify(facts) } : { expires: Date.now() };
      await table.update(id, { set, when: { token: { is: token } } });
    },
  });

  return {
    async begin({ account, key, request, until }, isUsable) {
      const hash = createHash('sha256').update(JSON.stringify([account, key]));
      const id = `${PREFIX}${hash.digest('hex')}`;
      const [now, token] = [Date.now(), randomUUID()];
      const set = { account, request, token, until, result: undefined, expires: now + DAY };
      if (await table.update(id, { set, when: { id: 'absent' } })) return begun(id, token);

      const found = await table.get(id);
      if (found && found.request !== request) throw new ConversionError('IDEMPOTENCY_KEY_REUSED');
      const kept =
        found?.result === undefined ? undefined : (JSON.parse(String(found.result)) as InvocationResult);
      if (kept && (await isUsable(kept))) return { kept };
      // Its files have been deleted, or the process that ran it was killed.
      const isOver = found && (kept || Number(found.until) <= now);
      const when = { token: { is: String(found?.token) } };
      if (isOver && (await table.update(id, { set, when }))) return begun(id, token);
      throw new ConversionError('REQUEST_IN_PROGRESS');
    },

    async erase(account) {
      let erased = 0;
      for await (const item of table.list(PREFIX))
        if (item.account === account && (await table.remove(item.id))) erased += 1;
      return erased;
    },
  };
}
