import { matcherOf } from './find-options.ts';
import { formatIn, withFormat } from './outfile.ts';
import { byId, create, requestLine, secondsSince, showResult, sizeOf } from './result.ts';
import {
  callOf,
  check,
  convert,
  hashOf,
  type Problem,
  readHash,
  readVisitor,
  type State,
  snippetOf,
  TEXT,
  type Way,
} from './service.ts';

// The page with all options of all tools. Keeps the form, the call, the URL's hash and the result in sync.

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Delay in milliseconds from the last keystroke to the check of the call. */
const PAUSE = 250;
/** Placeholder for the source of a call without one. */
const NO_SOURCE = 'https://example.com/';
/** Placeholder for the file of a call that is being checked. */
const ANY_FILE = 'data:,';

/** Path of the support page. This script is one level below the site. */
const SUPPORT = new URL('../support', import.meta.url).pathname;

const form = byId<HTMLFormElement>('try');
const maxSource = Number(form.dataset.maxSource);
const [infile, outfile, key, chooser] = ['infile', 'outfile', 'apikey', 'choose'].map((id) =>
  byId<HTMLInputElement>(id),
) as [HTMLInputElement, HTMLInputElement, HTMLInputElement, HTMLInputElement];
const format = byId<HTMLSelectElement>('format');
const panels = [...document.querySelectorAll<HTMLElement>('section.tool')];
const tools = panels.map(({ dataset }) => dataset.tool ?? '');

const optionNames = panels.flatMap(controlsOf).flatMap(({ dataset }) => dataset.names?.split(' ') ?? []);

let state: State = readHash(location.hash, tools[0] ?? '', optionNames);
let file: File | undefined;
let checking = new AbortController();
let running: AbortController | undefined;
/** Whether somebody is signed in, who needs no key. */
let isMember = false;

function panelOf(app: string): HTMLElement {
  return panels.find(({ dataset }) => dataset.tool === app) ?? panels[0]!;
}

function controlsOf(panel: HTMLElement): Control[] {
  return [...panel.querySelectorAll<Control>('[data-name]')];
}

/** Whether the order of the options of the chosen tool matters. */
function isOrdered(): boolean {
  return panelOf(state.app).dataset.ordered !== undefined;
}

function formatsOf(panel: HTMLElement): string[] {
  return panel.dataset.formats?.split(' ') ?? [];
}

/** Shows a state in the form. */
function show(): void {
  if (!tools.includes(state.app)) state.app = tools[0]!;
  const panel = panelOf(state.app);
  for (const each of panels) each.hidden = each !== panel;
  for (const tab of document.querySelectorAll<HTMLElement>('.tabs a')) {
    if (tab.dataset.tool === state.app) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  for (const chip of document.querySelectorAll<HTMLElement>('[data-sample]'))
    chip.hidden = chip.dataset.for !== state.app;
  format.replaceChildren(...formatsOf(panel).map((name) => create('option', { value: name }, `.${name}`)));
  if (state.outfile === '') state.outfile = `result.${formatsOf(panel)[0]}`;
  byId('each').hidden = !panel.dataset.paged;
  infile.value = state.infile;
  outfile.value = state.outfile;
  selectFormat();
  for (const control of controlsOf(panel))
    setControl(control, state.options.get(control.dataset.name!) ?? []);
  showFile();
  update();
}

function setControl(control: Control, values: readonly string[]): void {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') {
    const isInverted = control.dataset.value === 'no';
    control.checked = values.length > 0 ? !/^(0|no|false|off)$/i.test(values[0]!) : isInverted;
  } else control.value = values.join('\n');
}

function valuesOf(control: Control): readonly string[] {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') {
    const isInverted = control.dataset.value === 'no';
    return control.checked === isInverted ? [] : [control.dataset.value!];
  }
  const values = control instanceof HTMLTextAreaElement ? control.value.split('\n') : [control.value];
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** Selects the format of the result by the extension of its name. */
function selectFormat(): void {
  const name = formatIn(outfile.value);
  if ([...format.options].some(({ value }) => value === name)) format.value = name;
}

function call() {
  return callOf({ ...state, infile: state.infile || NO_SOURCE }, location.origin, {
    file: file?.name,
    isOrdered: isOrdered(),
  });
}

/** Updates the call and the hash, and checks the call. */
function update(): void {
  const way = form.querySelector<HTMLInputElement>('[name=way]:checked')?.value as Way;
  byId('call').firstElementChild!.textContent = snippetOf(way, call());
  const hash = hashOf(state);
  if (hash !== location.hash) history.replaceState(null, '', hash);
  checking.abort();
  checking = new AbortController();
  const { signal } = checking;
  const timer = setTimeout(() => void checkNow(signal), PAUSE);
  signal.addEventListener('abort', () => clearTimeout(timer));
}

/** Shows the mistakes in the call. An empty field does not count as one. */
async function checkNow(signal: AbortSignal): Promise<void> {
  const source = file ? ANY_FILE : state.infile;
  const { url } = callOf({ ...state, infile: source || ANY_FILE }, location.origin, {
    isOrdered: isOrdered(),
  });
  const errors = await check(url, signal).catch(() => undefined);
  if (errors && !signal.aborted) showErrors(errors);
}

/** Shows each error at the field of its parameter, and all others below the button. */
function showErrors(errors: readonly Problem[], requestId?: string): void {
  for (const place of form.querySelectorAll<HTMLElement>('.error')) {
    place.hidden = true;
    place.replaceChildren();
    const control = place.parentElement?.querySelector('[aria-invalid]');
    control?.removeAttribute('aria-invalid');
  }
  for (const error of errors) {
    const place = fieldFor(error) ?? byId('failure');
    const code = error.code ? [' ', create('a', { href: `${SUPPORT}#${error.code}` }, error.code)] : [];
    place.append(create('span', {}, `${error.detail}`, ...code));
    place.hidden = false;
    const control = place.parentElement?.querySelector<HTMLElement>('input, select, textarea');
    if (place.id !== 'failure') control?.setAttribute('aria-invalid', 'true');
    place.closest('details')?.setAttribute('open', '');
  }
  if (requestId !== undefined && errors.length > 0) byId('result').replaceChildren(...requestLine(requestId));
}

/** Returns the element to show an error at: the control of its parameter, which may be an alias of an option. */
function fieldFor({ parameter }: Problem): HTMLElement | undefined {
  if (parameter === undefined) return undefined;
  const control = controlsOf(panelOf(state.app)).find(({ dataset }) =>
    dataset.names?.split(' ').includes(parameter),
  );
  return control ? control.parentElement!.querySelector<HTMLElement>('.error')! : fieldOf(parameter);
}

function fieldOf(name: string): HTMLElement | undefined {
  return form.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"] .error`) ?? undefined;
}

function setOption(control: Control): void {
  const values = valuesOf(control);
  const name = control.dataset.name!;
  if (values.length > 0) state.options.set(name, values);
  else state.options.delete(name);
}

function showFile(): void {
  infile.hidden = file !== undefined;
  byId('file').hidden = file === undefined;
  byId('remove').ariaLabel = TEXT.remove(file?.name ?? '');
  byId('file-name').textContent = file ? `${file.name} (${sizeOf(file.size)})` : '';
}

function takeFile(chosen: File | undefined): void {
  if (!chosen) return;
  file = chosen;
  state.infile = '';
  infile.value = '';
  showFile();
  update();
}

/** Starts a conversion and shows how it ends. */
async function run(): Promise<void> {
  if (running) return;
  checking.abort();
  if (!file && state.infile === '') return refuse('infile', byId('infile-hint').textContent);
  if (file && key.value === '' && !isMember) return refuse('apikey', TEXT.errors.needsKey);
  if (file && file.size > maxSource) return refuse('infile', TEXT.errors.tooLarge(maxSource / 1e6));
  const controller = new AbortController();
  running = controller;
  // Makes the back button return to this call.
  history.pushState(null, '', hashOf(state));
  showErrors([]);
  const started = performance.now();
  const status = byId('status');
  const progress = create('progress', { ariaLabel: TEXT.converting(0) });
  const text = create('span', { ariaHidden: 'true' });
  status.replaceChildren(progress, text);
  let sent = file ? 0 : 1;
  const timer = setInterval(() => {
    const seconds = Math.floor((performance.now() - started) / 1000);
    text.textContent = sent < 1 ? TEXT.sending(Math.floor(100 * sent)) : TEXT.converting(seconds);
  }, 100);
  const onSent = (share: number) => {
    sent = share;
    if (share < 1) progress.value = share;
    else progress.removeAttribute('value');
  };
  byId('cancel').hidden = false;
  form.setAttribute('aria-busy', 'true');
  byId('result').replaceChildren(create('p', { className: 'empty loading' }));
  const apiKey = key.value.trim();
  const maxBody = Number(form.dataset.maxBody ?? maxSource);
  const { signal } = controller;
  const ended = await convert(call(), {
    key: apiKey,
    isMember,
    sources: file ? [['infile', file]] : [],
    maxBody,
    signal,
    onSent,
  });
  clearInterval(timer);
  const bytes = ended.outputs.reduce((sum, output) => sum + (output.bytes ?? 0), 0);
  status.replaceChildren(ended.outputs.length > 0 ? TEXT.done(secondsSince(started), sizeOf(bytes)) : '');
  if (ended.errors.length > 0) {
    byId('result').replaceChildren();
    showErrors(ended.errors, ended.requestId);
    form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  } else {
    const shown = await showResult(ended, controller.signal).catch(() => []);
    byId('result').replaceChildren(...shown);
  }
  byId('cancel').hidden = true;
  form.removeAttribute('aria-busy');
  running = undefined;
}

function refuse(field: string, detail: string): void {
  showErrors([]);
  const place = fieldOf(field)!;
  place.textContent = detail;
  place.hidden = false;
  byId(field).setAttribute('aria-invalid', 'true');
  byId(field).focus();
}

/** Shows the options that match what was typed. */
function search(box: HTMLInputElement): void {
  const matches = matcherOf(box.value);
  const panel = box.closest('section')!;
  let found = 0;
  for (const group of panel.querySelectorAll<HTMLElement>('.common, details')) {
    const options = [...group.querySelectorAll<HTMLElement>('.option')];
    // Aliases are not shown.
    const category = group.querySelector('summary')?.textContent;
    const textOf = (option: HTMLElement) =>
      `${controlsOf(option)[0]!.dataset.names} ${option.textContent} ${category}`;
    for (const option of options) option.hidden = !matches(textOf(option).toLowerCase());
    const shown = options.filter(({ hidden }) => !hidden).length;
    group.hidden = shown === 0;
    if (group instanceof HTMLDetailsElement) group.open = box.value.trim() !== '' && shown > 0;
    found += shown;
  }
  panel.querySelector<HTMLElement>('.none')!.hidden = found > 0;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void run();
});
form.addEventListener('input', ({ target }) => {
  const control = target as Control;
  if (control.classList.contains('search')) return search(control as HTMLInputElement);
  if (control === key || control === chooser) return;
  if (control.dataset.name) setOption(control);
  state.infile = infile.value.trim();
  state.outfile = outfile.value.trim();
  if (control === outfile) selectFormat();
  if (control === format) {
    outfile.value = withFormat(outfile.value, format.value);
    state.outfile = outfile.value;
  }
  update();
});
form.addEventListener('click', ({ target }) => {
  const { dataset } = target as HTMLElement;
  if (dataset.sample === undefined) return;
  file = undefined;
  state = { ...state, infile: `sample:${dataset.sample}`, outfile: dataset.outfile ?? state.outfile };
  show();
});
for (const tab of document.querySelectorAll<HTMLAnchorElement>('.tabs a')) {
  tab.addEventListener('click', (event) => {
    event.preventDefault();
    const { infile: source } = state;
    const isSample = source.startsWith('sample:');
    state = { app: tab.dataset.tool!, infile: isSample ? '' : source, outfile: '', options: new Map() };
    history.pushState(null, '', hashOf(state));
    byId('status').replaceChildren();
    show();
  });
}
byId('remove').addEventListener('click', () => {
  file = undefined;
  chooser.value = '';
  showFile();
  update();
  infile.focus();
});
chooser.addEventListener('change', () => takeFile(chooser.files?.[0]));
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    document.body.classList.toggle('dropping', type === 'dragenter' || type === 'dragover');
    if (type === 'drop') takeFile(event.dataTransfer.files[0]);
  });
}
document.addEventListener('paste', ({ clipboardData }) => takeFile(clipboardData?.files[0]));
byId('cancel').addEventListener('click', () => running?.abort());
byId('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(byId('call').textContent ?? '');
  byId('status').replaceChildren(TEXT.copied);
});
addEventListener('popstate', () => {
  state = readHash(location.hash, tools[0]!, optionNames);
  show();
});

show();
isMember = (await readVisitor().catch(() => undefined))?.email !== undefined;
key.closest<HTMLElement>('.field')!.hidden = isMember;
