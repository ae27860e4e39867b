import type { ServerResponse } from 'node:http';

/** Responds after a while. */
export const after = (milliseconds: number, body: string, type = 'text/plain') => {
  const headers = { 'content-type': type };
  return (_request: unknown, response: ServerResponse) =>
    void setTimeout(() => response.writeHead(200, headers).end(body), milliseconds);
};

/** Returns a page with a script. */
export const scripted = (script: string, body = '<p id=p>begun</p>') =>
  `<!doctype html><body style="margin:0">${body}<script>${script}</script>`;

/** Ends after `steps`, which go on when another thread or process resolves a promise, after which no listener is called. */
export const chain = (steps: string) => scripted(`(async () => { ${steps}; p.textContent = 'ended' })()`);

/** Black, 100 CSS pixels square. */
export const SQUARE = '<div id=box style="width:100px;height:100px;background:#000"></div>';

/** Draws a bar that grows for a second. */
export const BARS = scripted(
  `const start = performance.now();
       (function draw() {
         const part = Math.min(1, (performance.now() - start) / 1000);
         c.getContext("2d").fillRect(0, 0, 300 * part, 100);
         if (part < 1) requestAnimationFrame(draw);
       })()`,
  '<canvas id=c width=300 height=100></canvas>',
);

/** Goes to `/bars` while it moves. */
export const LEAVES_FOR_BARS = scripted(
  '(function turn() { requestAnimationFrame(turn) })(); setTimeout(() => { location = "/bars" }, 1500)',
);

/** Shows the last of many texts that it stores in a database. */
export const DATABASE = scripted(
  `const opening = indexedDB.open('store', 1);
       opening.onupgradeneeded = () => opening.result.createObjectStore('texts');
       opening.onsuccess = () => {
         const put = (key) => {
           const writing = opening.result.transaction('texts', 'readwrite');
           writing.objectStore('texts').put('stored', key);
           writing.oncomplete = () => (key < 50 ? put(key + 1) : read());
         };
         const read = () => {
           const reading = opening.result.transaction('texts').objectStore('texts').get(50);
           reading.onsuccess = () => { p.textContent = reading.result };
         };
         put(0);
       }`,
);

/** Adds ten items to its list whenever the end of the list is in view. */
export const ENDLESS_LIST = scripted(
  `let n = 0;
       const add = () => {
         for (let i = 0; i < 10; i++) list.insertAdjacentHTML('beforeend', '<li style="height:100px">');
         p.textContent = n += 10;
       };
       new IntersectionObserver(([entry]) => entry.isIntersecting && fetch('/slow').then(add)).observe(end);
       add()`,
  '<p id=p></p><ul id=list></ul><div id=end>.</div>',
);

/** Changes each second. */
export const ENDLESS = scripted(
  '(function turn() { requestAnimationFrame(turn) })(); let n = 0; setInterval(() => { p.textContent = "ticks".padEnd(++n + 5, "!") }, 1000)',
);
