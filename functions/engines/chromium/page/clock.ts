/**
 * Runs in each document before its own scripts, and compensates for two effects of a stopped clock. Chromium has no
 * idle time to run idle callbacks in. And a script that loops until some time has passed would never end, so after
 * many readings of the same time, each further one is a little later.
 */
export const PAGE_CLOCK = `(() => {
  const READINGS = 100;
  const STEP = 0.1;
  const passing = (read) => {
    let last, readings, shown;
    return () => {
      const now = read();
      readings = now === last ? readings + 1 : 0;
      shown = now < last ? now : Math.max(shown ?? now, now + STEP * Math.max(0, readings - READINGS));
      last = now;
      return shown;
    };
  };

  const { now } = performance;
  const elapsed = passing(() => now.call(performance));
  Performance.prototype.now = { now() { return this === performance ? elapsed() : now.call(this) } }.now;

  const Native = Date;
  const time = passing(Native.now);
  Native.now = { now: () => Math.floor(time()) }.now;
  Date = Native.prototype.constructor = new Proxy(Native, {
    construct: (target, values, called) => Reflect.construct(target, values.length > 0 ? values : [time()], called),
    apply: () => new Native(time()).toString(),
  });

  const { setTimeout, clearTimeout } = window;
  const FRAME = 1000 / 60;
  window.requestIdleCallback = { requestIdleCallback(callback) {
    let left = 50;
    return setTimeout(() => callback({ didTimeout: false, timeRemaining: () => Math.max(0, left--) }), FRAME);
  } }.requestIdleCallback;
  window.cancelIdleCallback = { cancelIdleCallback: (handle) => clearTimeout(handle) }.cancelIdleCallback;
})()`;

/** Gives a worker its own frames. A frame of the page would never end if a worker drew on a canvas in it. */
export const WORKER_CLOCK = `
  self.requestAnimationFrame &&= (callback) => setTimeout(() => callback(performance.now()), 1000 / 60);
  self.cancelAnimationFrame &&= (timer) => clearTimeout(timer);`;
