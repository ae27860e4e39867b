import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import type { Session } from '../session.ts';

/** Work of a page's scripts that is still pending. */
export interface Pending {
  /** A callback waits for the next frame. */
  readonly frame: boolean;
  /** Milliseconds until the next timer or interval is due, or a finite animation ends. */
  readonly next: number | undefined;
  /** Milliseconds to wait for work outside the page's thread and clock: a worker, a database, the first frame of a video. */
  readonly background: number;
  /** Whether scripts may notice what is in view, or the size of the window. */
  readonly observes: boolean;
  /** Number of elements of the document. */
  readonly elements: number;
}

const NOTHING: Pending = { frame: false, next: undefined, background: 0, observes: true, elements: 0 };

/** Milliseconds to wait after a message to a worker, and for a worker that was only started. */
const ASKED = 2000;
const STARTED = 500;
/** The same for the first frame of a video that is being loaded. */
const FIRST_FRAME = 2000;
/** The same for what the browser does in the background, which always ends. The page's own limit is shorter. */
const BUSY = 60_000;

/**
 * Counts timers, frame callbacks and background work. Runs before the page's own scripts, which see the usual
 * functions. A page that tampers with it only changes how long the service waits for it, which is limited.
 */
const INSTRUMENT = `(() => {
  const timers = new Map();
  const frames = new Set();
  const now = performance.now.bind(performance);
  let busy = 0;
  let owed = [];
  let observes = false;
  const wrap = (name, apply) => {
    if (globalThis[name]) globalThis[name] = new Proxy(globalThis[name], { apply });
  };
  wrap('setTimeout', (target, self, [callback, delay, ...values]) => {
    if (typeof callback !== 'function') return Reflect.apply(target, self, [callback, delay, ...values]);
    const run = function (...given) {
      timers.delete(id);
      return Reflect.apply(callback, this, given);
    };
    const id = Reflect.apply(target, self, [run, delay, ...values]);
    timers.set(id, { due: now() + (Number(delay) || 0), every: 0 });
    return id;
  });
  wrap('setInterval', (target, self, values) => {
    const id = Reflect.apply(target, self, values);
    timers.set(id, { due: now(), every: Math.max(1, Number(values[1]) || 0) });
    return id;
  });
  for (const name of ['clearTimeout', 'clearInterval']) {
    wrap(name, (target, self, [id]) => {
      timers.delete(id);
      return Reflect.apply(target, self, [id]);
    });
  }
  wrap('requestAnimationFrame', (target, self, [callback]) => {
    if (typeof callback !== 'function') return Reflect.apply(target, self, [callback]);
    const run = function (...given) {
      frames.delete(id);
      return Reflect.apply(callback, this, given);
    };
    const id = Reflect.apply(target, self, [run]);
    frames.add(id);
    return id;
  });
  wrap('cancelAnimationFrame', (target, self, [id]) => {
    frames.delete(id);
    return Reflect.apply(target, self, [id]);
  });
  const during = (owner, names, end) => {
    for (const name of names) {
      const target = owner?.[name];
      if (typeof target !== 'function') continue;
      owner[name] = new Proxy(target, {
        apply(...call) {
          const result = Reflect.apply(...call);
          let isBusy = true;
          busy += 1;
          end(() => {
            if (isBusy) busy -= 1;
            isBusy = false;
          }, result, call[1]);
          return result;
        },
      });
    }
  };
  const settled = (done, promise) => promise.then(done, done);
  during(globalThis.WebAssembly, ['compile', 'instantiate', 'compileStreaming', 'instantiateStreaming'], settled);
  during(globalThis, ['createImageBitmap'], settled);
  during(globalThis.HTMLImageElement?.prototype, ['decode'], settled);
  during(globalThis.Blob?.prototype, ['arrayBuffer', 'text'], settled);
  during(globalThis.SubtleCrypto?.prototype, ['decrypt', 'deriveBits', 'deriveKey', 'digest', 'importKey', 'verify'], settled);
  during(globalThis.CacheStorage?.prototype, ['match', 'open'], settled);
  during(globalThis.Cache?.prototype, ['match', 'matchAll', 'put'], settled);
  const fired = (...types) => (done, target) => {
    for (const type of types) target.addEventListener(type, done);
  };
  during(globalThis.IDBFactory?.prototype, ['open', 'deleteDatabase'], fired('success', 'error', 'blocked'));
  during(globalThis.IDBDatabase?.prototype, ['transaction'], fired('complete', 'abort'));
  const READERS = ['readAsArrayBuffer', 'readAsDataURL', 'readAsText'];
  during(globalThis.FileReader?.prototype, READERS, (done, _, reader) => fired('loadend')(done, reader));
  if (globalThis.Worker) {
    const answered = (worker) => { owed = owed.filter((one) => one.worker !== worker); };
    globalThis.Worker = new Proxy(Worker, {
      construct(...call) {
        const worker = Reflect.construct(...call);
        for (const type of ['message', 'error']) worker.addEventListener(type, () => answered(worker));
        owed.push({ worker, wait: ${STARTED} });
        return worker;
      },
    });
    Worker.prototype.postMessage = new Proxy(Worker.prototype.postMessage, {
      apply(target, worker, values) {
        answered(worker);
        owed.push({ worker, wait: ${ASKED} });
        return Reflect.apply(target, worker, values);
      },
    });
  }
  const EVENTS = new Set(['resize', 'scroll', 'scrollend', 'orientationchange', 'contentvisibilityautostatechange']);
  EventTarget.prototype.addEventListener = new Proxy(EventTarget.prototype.addEventListener, {
    apply(target, self, values) {
      observes ||= EVENTS.has(values[0]);
      return Reflect.apply(target, self, values);
    },
  });
  for (const name of ['IntersectionObserver', 'ResizeObserver']) {
    if (!globalThis[name]) continue;
    globalThis[name] = new Proxy(globalThis[name], {
      construct(...call) {
        observes = true;
        return Reflect.construct(...call);
      },
    });
  }
  wrap('matchMedia', (...call) => {
    observes = true;
    return Reflect.apply(...call);
  });
  const read = () => {
    const time = now();
    let next;
    for (const { due, every } of timers.values()) {
      const rest = every ? every - ((time - due) % every) : Math.max(0, due - time);
      next = Math.min(next ?? rest, rest);
    }
    const background = Math.max(busy > 0 ? ${BUSY} : 0, ...owed.map(({ wait }) => wait));
    observes ||= Boolean(globalThis.onresize || globalThis.onscroll || document.onscroll);
    return [frames.size > 0, next ?? -1, background, observes];
  };
  Object.defineProperty(globalThis, Symbol.for('docmill.pending'), { value: read });
})()`;

/** Reads the counters of a page and of the frames in it; a frame of another origin counts as if a timer were always due. */
const READ = `(() => {
  const sum = [false, -1, 0, false];
  const visit = (one) => {
    let frame = false, next = -1, background = 0, observes = true;
    try {
      [frame, next, background, observes] = one[Symbol.for('docmill.pending')]?.() ?? [false, -1, 0, true];
      for (const animation of one.document.getAnimations?.() ?? []) {
        const { endTime } = animation.effect?.getComputedTiming() ?? {};
        if (animation.playState !== 'running' || !Number.isFinite(endTime)) continue;
        const rest = (endTime - animation.currentTime) / (animation.playbackRate || 1);
        if (rest >= 0 && (next < 0 || rest < next)) next = rest;
      }
      for (const video of one.document.getElementsByTagName('video')) {
        const { networkState, readyState, NETWORK_LOADING, NETWORK_IDLE, HAVE_CURRENT_DATA } = video;
        // Idle as soon as it has been downloaded, although its first frame may not be decoded yet.
        const loads = networkState === NETWORK_LOADING || (networkState === NETWORK_IDLE && (video.autoplay || video.preload !== 'none'));
        const shows = (!video.poster || video.autoplay) && video.getClientRects().length > 0;
        if (loads && shows && readyState < HAVE_CURRENT_DATA) background = Math.max(background, ${FIRST_FRAME});
      }
    } catch {
      next = 100;
    }
    sum[0] ||= frame;
    sum[1] = next < 0 ? sum[1] : sum[1] < 0 ? next : Math.min(sum[1], next);
    sum[2] = Math.max(sum[2], background);
    sum[3] ||= observes;
    for (let index = 0; index < Math.min(50, one.length); index++) visit(one[index]);
  };
  visit(globalThis);
  return [...sum, document.getElementsByTagName('*').length];
})()`;

/** Instruments every future document. */
export async function trackPending(protocol: CDPSession): Promise<void> {
  await protocol.send('Page.addScriptToEvaluateOnNewDocument', { source: INSTRUMENT });
}

/** Reads the pending work of the page. The values are checked, and a failed read counts as none. */
export async function readPending({ protocol }: Session): Promise<Pending> {
  const { result } = await protocol.send('Runtime.evaluate', {
    expression: READ,
    returnByValue: true,
    timeout: 1000,
  });
  if (!Array.isArray(result.value)) return NOTHING;
  const [frame, next, background, observes, elements] = result.value as unknown[];
  return {
    frame: frame === true,
    next: typeof next === 'number' && next >= 0 ? next : undefined,
    background: typeof background === 'number' ? background : 0,
    observes: observes !== false,
    elements: typeof elements === 'number' ? elements : 0,
  };
}
