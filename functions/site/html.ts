import { createHash } from 'node:crypto';

/** HTML whose parts have been escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type Part = string | number | false | undefined | Html | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML. Every part that is not HTML is escaped. `false` and `undefined` are left out. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    strings.map((string, index) => string + (index < parts.length ? rendered(parts[index]) : '')).join(''),
  );
}

function rendered(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(rendered).join('');
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Converts a text to HTML, with text in backticks as `code` elements. */
export function withCode(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${parts}`;
}

/** A file of the site, whose path changes with its content. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
}

/** The files that the pages load. */
export interface Assets {
  readonly script: Asset;
  readonly style: Asset;
  readonly icon: Asset;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2554c7"/><path d="M9 6h9l5 5v15H9z" fill="#fff"/><path d="M18 6v5h5" fill="#b9cbf5"/><path d="M12.500 18.500h6m-2.500-3 3 3-3 3" fill="none" stroke="#2554c7" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Names each file by a hash of its content. */
export function assetsOf({ script, style }: { readonly script: string; readonly style: string }): Assets {
  return {
    script: asset('app', 'js', 'text/javascript; charset=utf-8', script),
    style: asset('style', 'css', 'text/css; charset=utf-8', style),
    icon: asset('icon', 'svg', 'image/svg+xml', ICON),
  };
}

function asset(name: string, extension: string, contentType: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `/site/${name}.${hash}.${extension}`, contentType, text };
}
