import { chooseTool } from '../../engines/choose-tool.ts';
import type { SourceFacts } from '../../shared/source/file-kind.ts';
import { keepResults, showEarlier } from './earlier.ts';
import { isImpossible, type Kind, kindOf, resultName, TARGETS, type TargetId, targetsFor } from './kinds.ts';
import { byId, create, secondsSince, sizeOf } from './result.ts';
import { downloadOf, gallery } from './results.ts';
import {
  argsOf,
  type ConversionResult,
  convert,
  encodePairs,
  type Output,
  type Problem,
  readVisitor,
  TEXT,
  type Visitor,
} from './service.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type State = 'new' | 'waiting' | 'running' | 'done' | 'failed';

/** A file, a URL, or several of them that become one PDF. */
interface Source {
  readonly name: string;
  readonly file?: File | undefined;
  readonly url?: string | undefined;
  readonly parts?: readonly Part[];
  readonly facts: SourceFacts;
}

type Part = Pick<Source, 'name' | 'file' | 'url' | 'facts'>;

/** See `FileLimits`. */
interface Limits {
  readonly maxSource: number;
  readonly maxBody: number;
}

/** The list that an item belongs to. */
interface Owner {
  start(item: Item): void;
  changed(): void;
  removed(item: Item): void;
  /** Moves an item before or after another one. */
  moved(item: Item, target: Item | undefined): void;
  /** Returns the item before (-1) or after (1) an item. */
  beside(item: Item, way: -1 | 1): Item | undefined;
}

/** How often a busy service is asked again, and the longest wait in seconds. */
const RETRIES = 10;
const MAX_WAIT = 65;

/** The tools, with the templates of their options. */
const tools = [...document.querySelectorAll<HTMLTemplateElement>('template[data-tool]')].map((template) => ({
  name: template.dataset.tool!,
  formats: template.dataset.formats!.split(' '),
  paged: template.dataset.paged!.split(' '),
  template,
}));
let numbers = 0;

/** A source in the list, with its own target, progress, error and results. */
export class Item {
  readonly name: string;
  readonly file: File | undefined;
  readonly url: string | undefined;
  /** The files and URLs that become one result. */
  #parts: readonly Part[];
  /** Whether this is several sources that become one PDF. */
  readonly isCombined: boolean;
  readonly facts: SourceFacts;
  readonly kind: Kind;
  readonly element: HTMLLIElement;
  readonly #target: HTMLSelectElement;
  readonly #status = create('div', { className: 'status' });
  readonly #shown = create('div', { className: 'shown' });
  readonly #facts = create('small');
  readonly #action = create('button', { type: 'button' });
  readonly #options: HTMLDetailsElement;
  readonly #id: string;
  readonly #limits: Limits;
  readonly #owner: Owner;
  #password = '';
  #stop: AbortController | undefined;
  state: State = 'new';
  outputs: readonly Output[] = [];

  constructor(
    { name, file, url, facts, parts = [{ name, file, url, facts }] }: Source,
    limits: Limits,
    owner: Owner,
  ) {
    this.name = name;
    this.file = file;
    this.url = url;
    this.#parts = parts;
    this.isCombined = parts.length > 1;
    this.facts = facts;
    this.#limits = limits;
    this.#owner = owner;
    numbers += 1;
    this.#id = `item-${numbers}`;
    this.kind = kindOf(this.facts);
    const choices = this.isCombined ? (['pdf'] as const) : targetsFor(this.kind, this.name);
    this.#target = create(
      'select',
      { ariaLabel: `${TEXT.to}: ${this.name}` },
      ...choices.map((id) => create('option', { value: id }, TEXT.targets[id])),
    );
    this.#target.addEventListener('change', () => this.#changed());
    const remove = create(
      'button',
      { type: 'button', className: 'remove', ariaLabel: TEXT.remove(this.name) },
      '×',
    );
    remove.addEventListener('click', () => this.remove());
    this.#action.addEventListener('click', () => this.#act());
    this.#describe();
    const badge = create('span', { className: `kind ${this.kind}`, ariaHidden: 'true' });
    badge.append(badgeOf(this.kind, this.name));
    if (this.kind === 'image' && file) void showPicture(file, badge);
    const moves = create('span', { className: 'moves' }, this.#mover(-1), this.#mover(1));
    const head = create(
      'div',
      { className: 'head' },
      badge,
      create('div', { className: 'title' }, create('strong', {}, this.name), this.#facts),
      this.#target,
      this.#action,
      ...(this.isCombined ? [] : [moves]),
      remove,
    );
    this.#options = create('details', { className: 'more' }, create('summary', {}, TEXT.options));
    this.#options.addEventListener('toggle', () => this.#showOptions());
    this.element = create('li', { id: this.#id }, head, this.#status, this.#shown, this.#options);
    if (!this.isCombined) this.#makeDraggable(badge);
    this.show('new');
  }

  /** Shows the kind and the size. */
  #describe(): void {
    const size = this.bytes > 0 ? ` · ${sizeOf(this.bytes)}` : '';
    const kind = this.isCombined ? TEXT.parts(this.#parts.length) : TEXT.kinds[this.kind];
    this.#facts.textContent = `${kind}${size}`;
  }

  /** Returns the button that moves this item up (-1) or down (1). */
  #mover(way: -1 | 1): HTMLButtonElement {
    const label = way < 0 ? TEXT.moveUp(this.name) : TEXT.moveDown(this.name);
    const button = create(
      'button',
      { type: 'button', className: 'move', ariaLabel: label },
      way < 0 ? '↑' : '↓',
    );
    button.addEventListener('click', () => {
      this.#owner.moved(this, this.#owner.beside(this, way));
      // An element that moves loses the focus.
      button.focus();
    });
    return button;
  }

  /** Moves this item where its handle is dragged. */
  #makeDraggable(handle: HTMLElement): void {
    handle.draggable = true;
    handle.addEventListener('dragstart', ({ dataTransfer }) => {
      dragged = this;
      dataTransfer?.setData('text/plain', this.name);
      dataTransfer?.setDragImage(this.element, 0, 0);
    });
    handle.addEventListener('dragend', () => (dragged = undefined));
    this.element.addEventListener('dragover', (event) => {
      if (!dragged || dragged === this) return;
      event.preventDefault();
      const { top, height } = this.element.getBoundingClientRect();
      const isBefore = event.clientY < top + height / 2;
      const comesUp =
        this.element.compareDocumentPosition(dragged.element) === Node.DOCUMENT_POSITION_FOLLOWING;
      // Otherwise rows of different heights would change places forever.
      if (isBefore === comesUp) this.#owner.moved(dragged, this);
    });
  }

  get bytes(): number {
    return this.#files.reduce((sum, { size }) => sum + size, 0);
  }

  get #files(): readonly File[] {
    return this.#parts.flatMap(({ file = [] }) => file);
  }

  get target(): TargetId {
    return this.#target.value as TargetId;
  }

  set target(id: TargetId) {
    if (this.target === id || ![...this.#target.options].some(({ value }) => value === id)) return;
    this.#target.value = id;
    this.#changed();
  }

  get targets(): readonly TargetId[] {
    return [...this.#target.options].map(({ value }) => value as TargetId);
  }

  get isBusy(): boolean {
    return this.state === 'waiting' || this.state === 'running';
  }

  /** The tool that converts the source, for its options. */
  get #tool() {
    const { suffix } = TARGETS[this.target];
    const target = { format: suffix.slice(suffix.lastIndexOf('.') + 1), isPaged: suffix.includes('%d') };
    return chooseTool(this.facts, target, tools);
  }

  remove(): void {
    this.#stop?.abort();
    const next = this.element.nextElementSibling ?? this.element.previousElementSibling;
    this.element.remove();
    this.#owner.removed(this);
    next?.querySelector('select')?.focus();
  }

  /** Shows a state. What an earlier conversion has shown goes. */
  show(state: State, status: ReadonlyArray<Node | string> = [], shown: readonly Node[] = []): void {
    this.state = state;
    if (state !== 'done') this.outputs = [];
    this.element.dataset.state = state;
    this.#target.disabled = this.isBusy;
    const labels = { new: TEXT.convert(1), waiting: TEXT.cancel, running: TEXT.cancel, failed: TEXT.again };
    this.#action.hidden = state === 'done';
    this.#action.className = state === 'new' || state === 'failed' ? 'small' : 'small secondary';
    if (state !== 'done') this.#action.textContent = labels[state];
    this.#status.replaceChildren(...status);
    this.#shown.replaceChildren(...shown);
    this.#owner.changed();
  }

  fail(detail: string, more: readonly Node[] = []): void {
    this.show('failed', [create('p', { className: 'error', role: 'alert' }, detail), ...more]);
  }

  #act(): void {
    if (this.state === 'waiting') this.show('new');
    else if (this.isBusy) this.#stop?.abort();
    else this.#owner.start(this);
  }

  #changed(): void {
    this.#options.open = false;
    this.#options.querySelector('.choices')?.remove();
    if (this.isBusy) return;
    const refused = this.#impossible;
    this.show('new', refused === undefined ? [] : [create('p', { role: 'status' }, refused)]);
  }

  /** Why the source cannot become what is chosen, if so. */
  get #impossible(): string | undefined {
    return isImpossible(this.kind, this.target) ? TEXT.errors.pdfToOffice : undefined;
  }

  /** Copies the options of the tool from its template when they are opened. */
  #showOptions(): void {
    if (!this.#options.open || this.#options.querySelector('.choices')) return;
    const tool = this.#tool;
    if (!tool) return;
    const controls = tool.template.content.cloneNode(true) as DocumentFragment;
    for (const attribute of ['id', 'for', 'aria-describedby'])
      for (const element of controls.querySelectorAll(`[${attribute}^="ID-"]`))
        element.setAttribute(attribute, element.getAttribute(attribute)!.replace('ID', this.#id));
    const outfile = resultName(this.name, this.target);
    const hash = encodePairs([
      ['app', tool.name],
      ...(this.url === undefined ? [] : [['infile', this.url] as const]),
      ['outfile', outfile],
    ]);
    const link = create('a', {
      href: `${new URL('../try', import.meta.url).pathname}#${hash}`,
      target: '_blank',
    });
    link.append(`${TEXT.allOptions} (${tool.name})`);
    const panel = create('div', { className: 'choices' }, controls, create('p', {}, link));
    panel.addEventListener('input', () => {
      if (!this.isBusy) this.show('new');
    });
    this.#options.append(panel);
  }

  /** Returns the options that are set, as on a command line. */
  #args(): string {
    const { args = '' } = TARGETS[this.target];
    const set = [...this.#options.querySelectorAll<Control>('.choices [data-name]')].flatMap((control) => {
      const name = control.dataset.name!;
      if (control instanceof HTMLInputElement && control.type === 'checkbox') {
        const isInverted = control.dataset.value === 'no';
        return control.checked === isInverted ? [] : [[name, control.dataset.value!] as const];
      }
      const values = control.value.split('\n').map((value) => value.trim());
      return values.filter((value) => value !== '').map((value) => [name, value] as const);
    });
    const password = this.#password === '' ? [] : passwordOptions(this.kind, this.#password);
    // An option that is set replaces that of the target.
    const names = set.map(([name]) => name);
    const own = args
      .split(/ (?=-)/)
      .filter((each) => each !== '' && !names.some((name) => each.startsWith(name)));
    return [...own, argsOf([...set, ...password])].filter((each) => each !== '').join(' ');
  }

  /** Returns why the conversion cannot start, if so. */
  #refusal(): string | undefined {
    const { maxSource } = this.#limits;
    if (this.#impossible !== undefined) return this.#impossible;
    if (this.#files.length === 0) return undefined;
    if (this.bytes > maxSource) return TEXT.errors.tooLargeTogether(sizeOf(this.bytes), maxSource / 1e6);
    return refusal();
  }

  async run(): Promise<void> {
    const { maxSource } = this.#limits;
    const unusable = this.#parts.find(({ file }) => file && (file.size === 0 || file.size > maxSource));
    if (unusable) {
      this.#blame(unusable, unusable.file?.size ? TEXT.errors.tooLarge(maxSource / 1e6) : TEXT.errors.empty);
      return;
    }
    const refused = this.#refusal();
    if (refused !== undefined) {
      this.fail(refused, refused === refusal() ? signInLink() : []);
      return;
    }
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const started = performance.now();
    const progress = create('progress', { ariaLabel: this.name });
    const text = create('span');
    let sent = this.#files.length > 0 ? 0 : 1;
    let isWaiting = false;
    const describe = () => {
      const seconds = Math.floor((performance.now() - started) / 1000);
      const now = sent < 1 ? TEXT.sending(Math.floor(100 * sent)) : TEXT.converting(seconds);
      text.textContent = isWaiting ? TEXT.busy : now;
    };
    describe();
    this.show('running', [progress, text]);
    const timer = setInterval(describe, 200);
    const onSent = (share: number) => {
      sent = share;
      if (share < 1) progress.value = share;
      else progress.removeAttribute('value');
    };
    try {
      for (let attempt = 1; ; attempt += 1) {
        const ended = await this.#send(signal, onSent);
        const { retryAfter } = ended;
        if (retryAfter === undefined || retryAfter > MAX_WAIT || attempt === RETRIES || signal.aborted) {
          this.#end(ended, started);
          return;
        }
        isWaiting = true;
        await new Promise((resolve) => {
          setTimeout(resolve, 1000 * retryAfter);
          signal.addEventListener('abort', resolve);
        });
        isWaiting = false;
      }
    } finally {
      clearInterval(timer);
    }
  }

  #send(signal: AbortSignal, onSent: (share: number) => void): Promise<ConversionResult> {
    const args = this.#args();
    const sources = this.#parts.map(
      ({ file, url = '' }, index) => [index === 0 ? 'infile' : '-append', file ?? url] as const,
    );
    const query = encodePairs([
      ['app', this.#parts.length > 1 ? 'pdftools' : 'auto'],
      ['outfile', resultName(this.name, this.target)],
      ...(args === '' ? [] : [['_args', args] as const]),
    ]);
    const url = `${location.origin}/api/?${query}`;
    return convert({ url }, { sources, ...accessOf(), maxBody: this.#limits.maxBody, signal, onSent });
  }

  #end(ended: ConversionResult, started: number): void {
    if (ended.outputs.length > 0) this.#succeed(ended, started);
    else if (this.#stop?.signal.aborted) this.fail(TEXT.errors.cancelled);
    else this.#explain(ended);
  }

  #succeed({ outputs, isDemo, warnings = [] }: ConversionResult, started: number): void {
    const bytes = outputs.reduce((sum, output) => sum + (output.bytes ?? 0), 0);
    const notes = [...(isDemo ? [TEXT.preview] : []), ...warnings.map((each) => `${TEXT.partly} ${each}`)];
    const text = create('span', {}, TEXT.done(secondsSince(started), sizeOf(bytes)));
    this.outputs = outputs;
    if (visitor.email !== undefined) keepResults(outputs, visitor.email);
    this.show(
      'done',
      [
        create('div', { className: 'done' }, text, downloadOf(this.name, outputs)),
        ...notes.map((note) => create('p', { className: 'muted' }, note)),
      ],
      gallery(this.name, outputs),
    );
  }

  /** Shows why the conversion failed, and what to do. */
  #explain({ errors, isDemo }: ConversionResult): void {
    const [{ code = '', detail, parameter, index } = { detail: '' } as Problem] = errors;
    const { codes, demo, demoLimit, badKey, expired } = TEXT.errors;
    const isProtected = /PASSWORD/.test(code);
    const isOther = this.kind === 'zip' && code === 'UNSUPPORTED_SOURCE';
    const known = isOther ? TEXT.errors.zip : codes[code];
    const at = parameter === 'infile' ? 0 : parameter === '-append' ? (index ?? Number.NaN) + 1 : Number.NaN;
    const culprit = this.#parts[this.isCombined ? at : 0];
    if (code === 'INVALID_KEY') {
      const hasKey = accessOf().key !== '';
      if (!hasKey) void refresh();
      this.fail(hasKey ? badKey : expired, hasKey ? [] : signInLink());
    } else if (isDemo) {
      this.fail(code === 'RATE_LIMITED' ? demoLimit : (known ?? demo), signInLink());
    } else if (culprit) {
      // Among several sources, only PDFs are opened with a password.
      const isClosed = isProtected && this.isCombined && kindOf(culprit.facts) !== 'pdf';
      this.#blame(culprit, (!isClosed && known) || detail, isProtected && !isClosed);
    } else this.fail(known ?? detail);
  }

  /** Shows why a part failed, and offers to enter its password or to go on without it. */
  #blame(culprit: Part, detail: string, takesPassword = false): void {
    const others = this.#parts.filter((part) => part !== culprit);
    const skip = create('button', { type: 'button', className: 'small' }, TEXT.goOn(culprit.name));
    skip.addEventListener('click', () => {
      this.#parts = others;
      this.#describe();
      this.#owner.start(this);
    });
    const more = others.length > 0 ? [create('p', {}, skip)] : [];
    const field = takesPassword ? [this.#passwordField()] : [];
    this.fail(this.isCombined ? `${culprit.name}: ${detail}` : detail, [...field, ...more]);
    this.#status.querySelector('input')?.focus();
  }

  #passwordField(): HTMLElement {
    const id = `${this.#id}-password`;
    const input = create('input', { id, type: 'password', autocomplete: 'off' });
    const label = create('label', { htmlFor: id }, TEXT.password);
    const form = create(
      'form',
      { className: 'joined' },
      input,
      create('button', { type: 'submit', className: 'small' }, TEXT.unlock),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#password = input.value;
      this.#owner.start(this);
    });
    return create('div', { className: 'password' }, label, form);
  }
}

/** The item whose handle is dragged. */
let dragged: Item | undefined;
/** Pixels of the side of a preview. */
const PREVIEW = 96;

/** Replaces a badge by a small picture, if the browser can decode it. */
async function showPicture(file: File, badge: HTMLElement): Promise<void> {
  const decoded = await createImageBitmap(file, { resizeWidth: 2 * PREVIEW }).catch(() => undefined);
  if (!decoded) return;
  const { width, height } = decoded;
  const scale = PREVIEW / Math.max(width, height);
  const canvas = create('canvas', { width: Math.max(1, width * scale), height: Math.max(1, height * scale) });
  canvas.getContext('2d')?.drawImage(decoded, 0, 0, canvas.width, canvas.height);
  decoded.close();
  badge.classList.add('preview');
  badge.replaceChildren(canvas);
}

/** Returns the options that open a protected source. */
function passwordOptions(kind: Kind, password: string): ReadonlyArray<readonly [string, string]> {
  return [[kind === 'pdf' ? '-upw' : '--password', password]];
}

function badgeOf(kind: Kind, name: string): string {
  const extension = /\.([a-z0-9]{2,4})$/i.exec(name)?.[1]?.toUpperCase();
  if (kind === 'page') return 'WEB';
  return extension ?? '?';
}

const key = byId<HTMLInputElement>('key');
let visitor: Visitor = { canSignIn: false };
let wasMember = false;

/** Returns what a conversion is sent with: a key that was entered, or the session. */
const accessOf = () => ({ key: key.value.trim(), isMember: visitor.email !== undefined });

/** Returns why the visitor cannot send a file, if so. */
function refusal(): string | undefined {
  if (key.value.trim() !== '' || visitor.email !== undefined) return undefined;
  return wasMember ? TEXT.errors.expired : TEXT.errors.signIn;
}

/** Returns a link that signs in without leaving the page, unless nobody can sign in. */
function signInLink(): HTMLElement[] {
  if (!visitor.canSignIn) return [];
  const { href } = byId<HTMLAnchorElement>('sign-in');
  return [create('p', {}, create('a', { href, target: '_blank', className: 'button-like' }, TEXT.signIn))];
}

/** Reads who is signed in, and shows what that means. */
export async function refresh(): Promise<void> {
  visitor = await readVisitor().catch(() => visitor);
  const { email, canSignIn } = visitor;
  if (email !== undefined && !wasMember) showEarlier(email);
  if (email !== undefined) wasMember = true;
  byId('signed-in').hidden = email === undefined;
  byId('signed-in').textContent = email === undefined ? '' : TEXT.signedIn(email);
  byId('demo').hidden = email !== undefined;
  byId('sign-in').hidden = !canSignIn;
}

/** Shows and hides the field for a key. */
export function offerKey(): void {
  const button = byId('use-key');
  button.addEventListener('click', () => {
    const field = byId('key-field');
    field.hidden = !field.hidden;
    button.setAttribute('aria-expanded', String(!field.hidden));
    if (!field.hidden) key.focus();
  });
}
