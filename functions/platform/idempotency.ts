import { createHash, randomUUID } from 'node:crypto';
import { ConversionError } from '../shared/errors.ts';
import { DAY } from '../shared/time.ts';
import type { Condition, Table } from './table.ts';

/** A request with an `Idempotency-Key`. */
interface IdempotentRequest<Value> {
  readonly account: string;
  /** The value of the header. */
  readonly key: string;
  /** Hash of everything that the result depends on. */
  readonly request: string;
  /** Epoch milliseconds after which the request is no longer running, even if it was never ended. */
  readonly until: number;
  /** Its value is kept from the beginning, so that it is found even if this process is killed, once it is usable. */
  plan?(): Promise<Value>;
}

interface Begun<Value> {
  readonly planned?: Value | undefined;
  readonly end: End<Value>;
}

/** Ends a running request. Keeps its result, if there is one. Otherwise the key can be used again. */
type End<Value> = (value?: Value) => Promise<void>;

/** Keeps results, which are JSON values, of requests with an `Idempotency-Key` for a day, separately for each account. */
export interface Idempotency {
  /**
   * Returns the result of an earlier request with this key if `isUsable`. Otherwise this request is now running.
   * @throws ConversionError `REQUEST_IN_PROGRESS`, or `IDEMPOTENCY_KEY_REUSED` for the key of another request
   */
  begin<Value>(
    request: IdempotentRequest<Value>,
    isUsable: (value: Value) => Promise<boolean>,
  ): Promise<{ readonly kept: Value } | Begun<Value>>;
  /** Deletes everything about an account, and returns the number of its keys. On AWS this reads the whole table. */
  erase(account: string): Promise<number>;
}

const PREFIX = 'idempotent#';

/** Keeps one item per key. Calls delete none, which the router on AWS may not do. */
export function createIdempotency(table: Table): Idempotency {
  return {
    async begin<Value>(
      { account, key, request, until, plan }: IdempotentRequest<Value>,
      isUsable: (value: Value) => Promise<boolean>,
    ) {
      const hash = createHash('sha256').update(JSON.stringify([account, key]));
      const id = `${PREFIX}${hash.digest('hex')}`;
      const [now, token] = [Date.now(), randomUUID()];
      const start = async (when: Condition): Promise<Begun<Value> | undefined> => {
        const planned = await plan?.();
        const result = planned === undefined ? undefined : JSON.stringify(planned);
        const set = { account, request, token, until, result, expires: now + DAY };
        return (await table.update(id, { set, when })) && { planned, end };
      };
      const end: End<Value> = async (value) => {
        const set =
          value === undefined
            ? { expires: Date.now() }
            : { result: JSON.stringify(value), until: Date.now() };
        await table.update(id, { set, when: { token: { is: token } } });
      };
      // A repeated request plans nothing.
      const earlier = plan && (await table.get(id));
      const first = earlier ? undefined : await start({ id: 'absent' });
      if (first) return first;

      const found = earlier ?? (await table.get(id));
      if (found && found.request !== request) throw new ConversionError('IDEMPOTENCY_KEY_REUSED');
      const kept = found?.result === undefined ? undefined : (JSON.parse(String(found.result)) as Value);
      if (kept && (await isUsable(kept))) return { kept };
      // Its files have been deleted, or the process that ran it was killed.
      const isOver = found && Number(found.until) <= now;
      const next = isOver ? await start({ token: { is: String(found.token) } }) : undefined;
      if (next) return next;
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
