import { resultName } from './kinds.ts';
import { byId, create } from './result.ts';
import { type Output, TEXT } from './service.ts';
import { zipOf } from './zip.ts';

/** Maximum number of pictures of one source to show. */
const MAX_SHOWN = 60;
/** Results that browsers open in a tab. */
const OPENED = /^(application\/pdf|text\/plain)/;
const SHOWN = /^image\/(jpeg|png|webp|avif|gif)$/;

/** Returns the pictures among results as a grid. Each is a link to itself. */
export function gallery(name: string, outputs: readonly Output[]): HTMLElement[] {
  if (!outputs.some(({ contentType }) => SHOWN.test(contentType))) return [];
  const pictures = outputs.slice(0, MAX_SHOWN).map(({ url, name: file, page }) => {
    const alt = page === undefined ? file : TEXT.page(page);
    const image = create('img', { src: url, alt, loading: 'lazy' });
    return create('a', { href: safe(url), target: '_blank', rel: 'noreferrer' }, image);
  });
  const grid = create(
    'div',
    { className: outputs.length === 1 ? 'grid one' : 'grid', tabIndex: 0 },
    ...pictures,
  );
  grid.setAttribute('role', 'group');
  grid.setAttribute('aria-label', TEXT.results(name));
  return [grid];
}

/** Returns a URL that a link may have. */
export function safe(url: string): string {
  return /^https?:$/.test(new URL(url, location.href).protocol) ? url : '';
}

/** Returns a link to the only result, or a button that saves all of them as an archive. */
export function downloadOf(name: string, outputs: readonly Output[]): HTMLElement {
  const [first] = outputs;
  if (outputs.length === 1) {
    const link = create('a', { href: safe(first!.url), download: first!.name, className: 'button-like' });
    link.append(TEXT.download, create('span', { className: 'unseen' }, ` ${first!.name}`));
    if (!OPENED.test(first!.contentType)) return link;
    const open = create('a', { href: safe(first!.url), target: '_blank', rel: 'noreferrer' }, TEXT.open);
    return create('span', { className: 'row' }, open, link);
  }
  const button = create('button', { type: 'button', className: 'small' }, TEXT.downloadPages(outputs.length));
  const archive = `${resultName(name, 'pages').replace(/-%d\.png$/, '')}.zip`;
  button.addEventListener('click', () => void saveArchive(button, archive, outputs));
  return button;
}

/** Downloads results, and saves them as one archive. */
export async function saveArchive(
  button: HTMLButtonElement,
  name: string,
  outputs: readonly Output[],
): Promise<void> {
  button.disabled = true;
  try {
    const entries = [];
    for (const output of outputs) {
      const response = await fetch(output.url);
      if (!response.ok) throw new Error(String(response.status));
      entries.push({ name: output.name, content: await response.blob() });
    }
    const url = URL.createObjectURL(await zipOf(entries));
    create('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch {
    byId('summary').textContent = TEXT.errors.connection;
  } finally {
    button.disabled = false;
  }
}
