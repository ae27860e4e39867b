import { FRONT, type Language } from './front-texts.ts';
import { type Assets, type Html, html } from './html.ts';
import { OPERATOR } from './texts.ts';

interface Page {
  readonly title: string;
  /** Path of the current entry of the navigation. */
  readonly current?: string;
  readonly hasScript?: boolean;
  readonly language: Language;
  /** Whether an operator is signed in. */
  readonly isOperator?: boolean;
  readonly main: Html;
}

const PRODUCT = 'docmill';

/** Returns a whole page. */
export function layout(
  assets: Assets,
  { title, current, hasScript, isOperator, language, main }: Page,
): string {
  const { nav, tagline, skip } = FRONT[language];
  const links = [...Object.entries(nav), ...(isOperator ? [['/operator', OPERATOR.title] as const] : [])].map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${name}</a></li>`,
  );
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${PRODUCT}</title>
<meta name="description" content="${tagline}">
<link rel="icon" href="${assets.icon.path}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style.path}">
${hasScript && html`<script type="module" src="${assets.script.path}"></script>`}
</head>
<body>
<a class="skip" href="#content">${skip}</a>
<header>
<nav aria-label="${PRODUCT}">
<ul><li><a class="brand" href="/"><img src="${assets.icon.path}" alt="" width="28" height="28">${PRODUCT}</a></li></ul>
<ul>${links}</ul>
</nav>
</header>
<main id="content">${main}</main>
<footer><p>${PRODUCT} · ${tagline}</p></footer>
</body>
</html>
`.text;
}
