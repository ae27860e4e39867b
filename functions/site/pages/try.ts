import { referenceOf } from '../../shared/options/reference.ts';
import type { Tool } from '../../shared/tool.ts';
import { type Html, html } from '../html.ts';
import { TEXTS } from '../texts.ts';
import { optionControl } from './controls.ts';

/** Sizes in bytes. */
export interface FileLimits {
  /** Maximum size of a source. */
  readonly maxSource: number;
  /** Maximum size of a file in a request. Larger ones are uploaded first. */
  readonly maxBody?: number | undefined;
}

const { try: TEXT } = TEXTS;

/** Returns the page for trying conversions. */
export function tryPage(tools: readonly Tool[], { maxSource, maxBody }: FileLimits): Html {
  const tabs = tools.map(({ name }) => html`<a href="#app=${name}" data-tool="${name}">${name}</a>`);
  const details = tools.map((tool) => toolOptions(tool));
  const ways = ['URL', 'curl', 'JavaScript', 'Python', 'PHP'].map(
    (way, index) =>
      html`<label><input type="radio" name="way" value="${way}"${index === 1 && html` checked`}>${way}</label>`,
  );
  return html`
<hgroup><h1>${TEXT.title}</h1><p>${TEXT.lead}</p></hgroup>
<noscript><p class="notice">${TEXT.noScript}</p></noscript>
<nav class="tabs" aria-label="${TEXT.tools}">${tabs}</nav>
<form id="try" autocomplete="off" novalidate data-max-source="${maxSource}"${maxBody !== undefined && html` data-max-body="${maxBody}"`}>
<div class="inputs">
<div class="field" data-field="infile">
<label for="infile">${TEXT.source}</label>
<div class="source"><input id="infile" type="text" inputmode="url" autocapitalize="off" spellcheck="false" placeholder="https://" aria-describedby="infile-hint"><span id="file" hidden><span id="file-name"></span> <button type="button" class="secondary outline" id="remove" aria-label="${TEXT.remove}">×</button></span>
<label class="choose" for="choose">${TEXT.choose}</label><input id="choose" type="file" class="hidden-file"></div>
<small id="infile-hint">${TEXT.sourceHint}</small>
<p id="samples">${tools.map(
    ({ name, example: { infile, outfile } }) =>
      html`<button type="button" class="chip" data-sample="${infile}" data-outfile="${outfile}" data-for="${name}" hidden>${TEXT.sample} ${infile}</button>`,
  )}</p>
<p class="error" hidden></p></div>
<div class="pair">
<div class="field"><label for="format">${TEXT.format}</label><select id="format"></select></div>
<div class="field" data-field="outfile"><label for="outfile">${TEXT.outfile}</label><input id="outfile" type="text" spellcheck="false" aria-describedby="outfile-hint"><small id="outfile-hint">${TEXT.outfileHint} <span id="each" hidden>${TEXT.outfileEach}</span></small><p class="error" hidden></p></div>
</div>
<div class="field" data-field="apikey"><label for="apikey">${TEXT.key}</label><input id="apikey" type="password" autocomplete="off" spellcheck="false" aria-describedby="apikey-hint"><small id="apikey-hint">${TEXT.keyHint}</small><p class="error" hidden></p></div>
<div class="actions"><button type="submit" id="convert">${TEXT.convert}</button><button type="button" class="secondary" id="cancel" hidden>${TEXT.cancel}</button></div>
</div>
<div class="output">
<div id="status" role="status"></div>
<p class="error" id="failure" role="alert" hidden></p>
<section aria-labelledby="result-title"><h2 id="result-title">${TEXT.result}</h2><div id="result" tabindex="-1"><p class="empty">${TEXT.empty}</p></div></section>
<section aria-labelledby="call-title"><div class="call-head"><h2 id="call-title">${TEXT.call}</h2><button type="button" class="secondary outline" id="copy">${TEXT.copy}</button></div>
<fieldset class="ways"><legend class="unseen">${TEXT.call}</legend>${ways}</fieldset>
<pre id="call" tabindex="0"><code></code></pre></section>
</div>
<div class="settings">${details}</div>
</form>`;
}

/** Returns the options of a tool: the common ones first, then all others by category. */
function toolOptions(tool: Tool): Html {
  const { name, common = [], formats, paged, summary } = tool;
  const groups = [...referenceOf(tool)];
  const all = groups.flatMap(([, options]) => options);
  const isCommon = (names: readonly string[]) => common.some((known) => names.includes(known));
  const idOf = (optionName: string) => `${name}${optionName}`;
  const first = common.flatMap((known) => all.filter(({ option }) => option.names.includes(known)));
  const others = groups.map(([category, options]) => {
    const rest = options.filter(({ option }) => !isCommon(option.names));
    return html`<details><summary>${category || TEXTS.try.otherOptions} <small>${rest.length}</small></summary>${rest.map((each) => optionControl(each, idOf(each.option.names[0]!)))}</details>`;
  });
  const isOrdered = Object.values(tool.options).some(({ readers }) => readers);
  return html`<section class="tool" data-tool="${name}" data-formats="${formats.join(' ')}" data-paged="${paged.join(' ')}"${isOrdered && html` data-ordered`} hidden>
<h2>${TEXT.options}</h2>
<p class="muted">${summary} <a href="/docs/${name}">${TEXTS.nav.docs}</a></p>
<input type="search" class="search" aria-label="${TEXT.search}" placeholder="${TEXT.search}">
<p class="none muted" hidden>${TEXT.noneFound}</p>
<div class="common">${first.map((each) => optionControl(each, idOf(each.option.names[0]!)))}</div>
<h3>${TEXT.allOptions}</h3>
${isOrdered && html`<p class="muted">${TEXT.operators}</p>`}
${others}</section>`;
}
