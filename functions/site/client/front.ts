// The page for everyone: a list of sources that are converted side by side.

import { forgetResults } from './earlier.ts';
import { Item, offerKey, refresh } from './item.ts';
import { readUrl, type TargetId } from './kinds.ts';
import { byId, create, sizeOf } from './result.ts';
import { saveArchive } from './results.ts';
import { TEXT } from './service.ts';

/** Conversions at the same time. */
const PARALLEL = 3;
const HEAD_BYTES = 1024;

const front = byId('front');
const maxSource = Number(front.dataset.maxSource);
const limits = { maxSource, maxBody: Number(front.dataset.maxBody ?? maxSource) };
const [list, all] = [byId('items'), byId<HTMLSelectElement>('all')];
const [files, link] = [byId<HTMLInputElement>('files'), byId<HTMLInputElement>('url')];
let items: Item[] = [];
let running = 0;
const queue: Item[] = [];

/** Converts items, a few at the same time. */
function enqueue(chosen: readonly Item[]): void {
  for (const item of chosen) {
    if (item.isBusy) continue;
    item.show('waiting', [create('span', {}, TEXT.waiting)]);
    queue.push(item);
  }
  drain();
}

function drain(): void {
  while (running < PARALLEL && queue.length > 0) {
    const item = queue.shift()!;
    if (!items.includes(item) || item.state !== 'waiting') continue;
    running += 1;
    void item
      .run()
      .catch((thrown: unknown) => item.fail(String(thrown)))
      .finally(() => {
        running -= 1;
        drain();
      });
  }
}

/** Updates what concerns all items. */
function update(): void {
  const open = items.filter(({ state }) => state === 'new' || state === 'failed');
  const done = items.filter(({ state }) => state === 'done');
  const failed = items.filter(({ state }) => state === 'failed');
  const ended = done.length + failed.length;
  byId('work').hidden = items.length === 0;
  front.classList.toggle('has-items', items.length > 0);
  const start = byId<HTMLButtonElement>('start');
  start.textContent = TEXT.convert(open.length);
  start.disabled = open.length === 0;
  const parts = items.filter(({ isCombined }) => !isCombined);
  const bytes = parts.reduce((sum, each) => sum + each.bytes, 0);
  byId('combine').hidden = parts.length < 2;
  byId('combine').textContent = bytes > 0 ? `${TEXT.combine} · ${sizeOf(bytes)}` : TEXT.combine;
  byId('zip').hidden = done.flatMap(({ outputs }) => outputs).length < 2;
  const summary = ended === 0 ? '' : TEXT.summary(done.length, failed.length, items.length);
  if (byId('summary').textContent !== summary) byId('summary').textContent = summary;
  const common = items
    .map(({ targets }) => targets)
    .reduce((some, each) => some.filter((id) => each.includes(id)), items[0]?.targets ?? []);
  const chosen = new Set(items.map(({ target }) => target));
  const choices = [
    ...(chosen.size === 1 ? [] : [create('option', { value: '' }, TEXT.each)]),
    ...common.map((id) => create('option', { value: id }, TEXT.targets[id])),
  ];
  all.replaceChildren(...choices);
  all.value = chosen.size === 1 ? [...chosen][0]! : '';
  all.parentElement!.classList.toggle('single', items.length < 2);
}

/** Makes one PDF of all sources, in the order of the list. */
function combine(): void {
  const parts = items.filter(({ isCombined }) => !isCombined);
  const name = `${TEXT.combined}.pdf`;
  add({ name, parts, facts: { head: '%PDF-', name, contentType: '' } });
  enqueue(items.slice(-1));
}

const owner = {
  beside: (item: Item, way: -1 | 1) => items[items.indexOf(item) + way],
  moved: (item: Item, target: Item | undefined) => {
    if (!target) return;
    const to = items.indexOf(target);
    const isDown = to > items.indexOf(item);
    items = items.filter((each) => each !== item).toSpliced(to, 0, item);
    target.element[isDown ? 'after' : 'before'](item.element);
    byId('moved').textContent = TEXT.moved(item.name, to + 1, items.length);
  },
  start: (item: Item) => enqueue([item]),
  changed: () => update(),
  removed: (item: Item) => {
    items = items.filter((each) => each !== item);
    files.focus();
    update();
  },
};

function add(source: ConstructorParameters<typeof Item>[0]): void {
  const item = new Item(source, limits, owner);
  items.push(item);
  list.append(item.element);
  update();
}

async function addFiles(chosen: Iterable<File>): Promise<void> {
  for (const file of chosen) {
    const bytes = await file
      .slice(0, HEAD_BYTES)
      .bytes()
      .catch(() => new Uint8Array());
    const head = String.fromCharCode(...bytes);
    add({ name: file.name, file, facts: { head, name: file.name, contentType: file.type } });
  }
}

function addLink(text: string): boolean {
  const url = readUrl(text);
  const place = byId('url-error');
  place.hidden = url !== undefined;
  place.textContent = url ? '' : TEXT.errors.badUrl;
  if (url) link.removeAttribute('aria-invalid');
  else link.setAttribute('aria-invalid', 'true');
  if (!url) return false;
  const last = decoded(url.pathname.split('/').findLast((part) => part !== '') ?? '');
  const isNamed = /\.[a-z0-9]{2,5}$/i.test(last);
  const name = isNamed ? last : url.hostname;
  const facts = { head: '', name: isNamed ? last : '', contentType: isNamed ? '' : 'text/html' };
  add({ name, url: url.href, facts });
  return true;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

byId('link').addEventListener('submit', (event) => {
  event.preventDefault();
  if (addLink(link.value)) link.value = '';
});
for (const chip of document.querySelectorAll<HTMLElement>('[data-sample]')) {
  const name = chip.dataset.sample!;
  chip.addEventListener('click', () =>
    add({ name, url: `sample:${name}`, facts: { head: '', name, contentType: '' } }),
  );
}
files.addEventListener('change', () => {
  void addFiles([...(files.files ?? [])]);
  // The same file may be chosen again.
  files.value = '';
});
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.some((each) => each === 'Files' || each === 'text/uri-list')) return;
    event.preventDefault();
    document.body.classList.toggle('dropping', type === 'dragenter' || type === 'dragover');
    if (type !== 'drop') return;
    if (event.dataTransfer.files.length > 0) void addFiles([...event.dataTransfer.files]);
    else addLink(event.dataTransfer.getData('text/uri-list'));
  });
}
document.addEventListener('paste', ({ clipboardData }) => void addFiles([...(clipboardData?.files ?? [])]));
all.addEventListener('change', () => {
  const id = all.value as TargetId | '';
  if (id !== '') for (const item of items) item.target = id;
});
byId('start').addEventListener('click', () =>
  enqueue(items.filter(({ state }) => state === 'new' || state === 'failed')),
);
byId('combine').addEventListener('click', combine);
byId('clear').addEventListener('click', () => {
  for (const item of [...items]) item.remove();
});
byId('zip').addEventListener(
  'click',
  () =>
    void saveArchive(
      byId<HTMLButtonElement>('zip'),
      'docmill.zip',
      items.flatMap(({ outputs }) => outputs),
    ),
);
byId('forget').addEventListener('click', forgetResults);
addEventListener('beforeunload', (event) => {
  if (items.some(({ isBusy }) => isBusy)) event.preventDefault();
});
offerKey();
// Whoever has signed in in another tab comes back.
addEventListener('focus', () => void refresh());

front.hidden = false;
update();
await refresh();
