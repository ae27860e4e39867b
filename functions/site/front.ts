import { referenceOf } from '../shared/options/reference.ts';
import type { Tool } from '../shared/tool.ts';
import { FRONT, type FrontTexts, type Language, optionLabel } from './front-texts.ts';
import { type Html, html } from './html.ts';
import { type FileLimits, optionControl } from './pages.ts';

/** Results that the form offers to browsers without JavaScript. */
const PLAIN_TARGETS = [
  ['result.pdf', 'pdf'],
  ['result.png', 'picture'],
  ['result.jpg', 'jpg'],
  ['result.txt', 'text'],
  ['result.docx', 'docx'],
  ['result.xlsx', 'xlsx'],
] as const;

/** Returns the first page, on which anyone converts files without knowing a tool. */
export function frontPage(
  language: Language,
  tools: readonly Tool[],
  { maxSource, maxBody, resultHours }: FileLimits,
): Html {
  const text = FRONT[language];
  const names = [...new Set(tools.map(({ example }) => example.infile))];
  const chips = names.map(
    (name) => html`<button type="button" class="chip" data-sample="${name}">${name}</button>`,
  );
  const unit = resultHours % 24 === 0 ? 'day' : 'hour';
  const life = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  const lifeText = life.format(unit === 'day' ? resultHours / 24 : resultHours);
  const promises = text.promises.map(
    ([title, lead = ''], index) =>
      html`<li><strong>${title}</strong> ${lead.replace('{life}', lifeText)}${index === 2 && html` <a href="/docs">${text.api}</a>`}</li>`,
  );
  return html`<hgroup class="hero"><h1>${text.title}</h1><p>${text.lead}</p></hgroup>
<noscript>${plainForm(text)}</noscript>
<div id="front" hidden data-max-source="${maxSource}"${maxBody !== undefined && html` data-max-body="${maxBody}"`}>
<div class="drop">
<svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true"><path d="M12 4h16l10 10v30H12z" class="sheet"/><path d="M28 4v10h10" class="fold"/><path d="M25 38V23m-6 6 6-6 6 6" class="arrow"/></svg>
<p><label class="choose primary" for="files">${text.choose}</label><input id="files" type="file" multiple class="hidden-file"></p>
<p class="muted">${text.drop} · ${text.limit(maxSource / 1e6)}</p>
<form id="link" novalidate><label for="url">${text.url}</label>
<div class="joined"><input id="url" type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="${text.urlExample}" aria-describedby="url-error"><button type="submit" class="secondary">${text.add}</button></div>
<p class="error" id="url-error" role="alert" hidden></p></form>
</div>
<div id="who"><p id="signed-in" hidden></p>
<p id="demo" hidden>${text.demo} <a href="/account" target="_blank" id="sign-in">${text.signIn}</a> · <button type="button" class="link" id="use-key" aria-expanded="false" aria-controls="key-field">${text.useKey}</button></p>
<p id="key-field" hidden><label for="key">${text.key}</label><input id="key" type="password" autocomplete="off" spellcheck="false"></p></div>
<section id="work" hidden aria-label="${text.files}">
<div class="bar"><label for="all">${text.all}</label><select id="all"></select><button type="button" id="start"></button></div>
<ul id="items"></ul><p id="moved" class="unseen" role="status"></p>
<div class="bar"><p id="summary" role="status"></p><button type="button" class="secondary" id="combine" hidden>${text.combine}</button><button type="button" class="secondary" id="clear">${text.clear}</button><button type="button" id="zip" hidden>${text.downloadAll}</button></div>
</section>
<details id="earlier" hidden><summary>${text.earlier}</summary><ul id="earlier-items"></ul><p class="muted">${text.earlierHint} <button type="button" class="link" id="forget">${text.forget}</button></p></details>
<p id="samples">${text.samples} ${chips}</p>
</div>
<ul class="promises">${promises}</ul>
${tools.map((tool) => html`<template data-tool="${tool.name}" data-formats="${tool.formats.join(' ')}" data-paged="${tool.paged.join(' ')}">${commonControls(tool, language)}</template>`)}`;
}

/** The options of a tool that the list offers for each file. */
function commonControls(tool: Tool, language: Language): Html[] {
  const all = [...referenceOf(tool).values()].flat();
  return (tool.common ?? []).flatMap((name) =>
    all
      .filter(({ option }) => option.names.includes(name))
      .map((each) => {
        const [first = ''] = each.option.names;
        return optionControl(
          each,
          `ID-${first}`,
          optionLabel(name, language) ?? optionLabel(first, language),
          language,
        );
      }),
  );
}

function plainForm({ withoutScript: text, to, url, targets }: FrontTexts): Html {
  const choices = PLAIN_TARGETS.map(
    ([outfile, target]) => html`<option value="${outfile}">${targets[target]}</option>`,
  );
  const rest = (
    id: string,
  ) => html`<input type="hidden" name="app" value="auto"><input type="hidden" name="_response" value="redirect">
<label for="${id}-outfile">${to}</label><select id="${id}-outfile" name="outfile">${choices}</select>
<label for="${id}-key">${text.key}</label><input id="${id}-key" name="apikey" type="password" autocomplete="off">`;
  return html`<p>${text.lead}</p><div class="plain">
<form method="post" action="/site/convert" enctype="multipart/form-data">${rest('file')}<label for="plain-file">${text.file}</label><input id="plain-file" type="file" name="infile" required><button type="submit">${text.submit}</button></form>
<form method="post" action="/site/convert">${rest('url')}<label for="plain-url">${url}</label><input id="plain-url" type="url" name="infile" placeholder="https://" required><button type="submit">${text.submit}</button></form></div>`;
}
