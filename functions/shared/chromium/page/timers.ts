import type { CDPSession } from 'puppeteer-core';
import type { Session } from './session.ts';

/** Milliseconds after load that timers of the page are waited for. */
const TIMER_TIME = 500;

/**
 * Counts the page's timers that are soon due. It runs before the page's own scripts, which see a `setTimeout` like
 * any other; a page that tampers with it only changes how long it is waited for, and that is bounded.
 */
const COUNT = `(() => {
  const due = new Map();
  globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
    apply(target, self, [callback, delay, ...values]) {
      if (typeof callback !== 'function') return Reflect.apply(target, self, [callback, delay, ...values]);
      const run = function (...given) {
        due.delete(id);
        return Reflect.apply(callback, this, given);
      };
      const id = Reflect.apply(target, self, [run, delay, ...values]);
      due.set(id, performance.now() + (Number(delay) || 0));
      return id;
    },
  });
  globalThis.clearTimeout = new Proxy(globalThis.clearTimeout, {
    apply(target, self, [id]) {
      due.delete(id);
      return Reflect.apply(target, self, [id]);
    },
  });
  const since = (until) => [...due.values()].filter((time) => time <= until).length;
  Object.defineProperty(globalThis, Symbol.for('docmill.timers'), { value: since });
})()`;

/** Begins to count the timers of every document to come. */
export async function countTimers(protocol: CDPSession): Promise<void> {
  await protocol.send('Page.addScriptToEvaluateOnNewDocument', { source: COUNT });
}

/** Answers whether a timer is due within half a second of `start`, which the page's own clock tells. */
export async function hasTimers({ protocol }: Session, start: number): Promise<boolean> {
  const until = start + TIMER_TIME;
  const { result } = await protocol.send('Runtime.evaluate', {
    expression: `performance.now() < ${until} && globalThis[Symbol.for('docmill.timers')]?.(${until}) > 0`,
    returnByValue: true,
  });
  return result.value === true;
}
