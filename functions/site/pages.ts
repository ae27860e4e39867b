import { ERRORS } from '../shared/errors.ts';
import type { Option } from '../shared/options/option.ts';
import { type OptionReference, referenceOf } from '../shared/options/reference.ts';
import type { Tool } from '../shared/tool.ts';
import { type Html, html, withCode } from './html.ts';
import { TEXTS } from './texts.ts';

const { docs: DOCS, try: TRY, support: SUPPORT } = TEXTS;

interface DocsInput {
  readonly name: string;
  readonly description: string;
}

/** Returns the overview: how to call the service, the parameters that all tools share, and the tools. */
export function docsPage(tools: readonly Tool[], parameters: readonly DocsInput[], origin: string): Html {
  const rows = parameters.map(
    ({ name, description }) =>
      html`<tr id="${name}"><td><a href="#${name}"><code>${name}</code></a></td><td>${withCode(description)}</td></tr>`,
  );
  const cards = tools.map(
    ({ name, summary, formats }) =>
      html`<article><h3><a href="/docs/${name}">${name}</a></h3><p>${summary}</p><p class="muted">${formats.map((format) => `.${format}`).join(' ')}</p></article>`,
  );
  const curl = 'curl -H "X-Api-Key: $API_KEY"';
  return html`<hgroup><h1>${DOCS.title}</h1><p>${DOCS.lead}</p></hgroup>
<pre tabindex="0"><code>${curl} '${origin}/api/?app=html2pdf&infile=https%3A%2F%2Fexample.com%2F&outfile=page.pdf'</code></pre>
<h2>${DOCS.tools}</h2><div class="cards">${cards}</div>
<h2 id="files">${DOCS.files}</h2>
<p>${DOCS.sendFile}</p>
<pre tabindex="0"><code>${curl} -F app=doc2any -F outfile=letter.pdf -F infile=@letter.docx '${origin}/api/'</code></pre>
<p>${DOCS.sendPage}</p>
<pre tabindex="0"><code>${curl} -F app=html2pdf -F outfile=page.pdf -F infile=@page.html -F 'asset=@a.png;filename=images/a.png' '${origin}/api/'</code></pre>
<p>${DOCS.upload}</p>
<pre tabindex="0"><code>${curl} -d name=letter.docx '${origin}/api/uploads'</code></pre>
<h2>${DOCS.parameters}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="${DOCS.parameters}"><table><thead><tr><th scope="col">${DOCS.option}</th><th scope="col">${DOCS.effect}</th></tr></thead><tbody>${rows}</tbody></table></div>
<h2>${DOCS.more}</h2><ul><li><a href="/support#codes">${TEXTS.support.codes}</a></li><li>${DOCS.description}: <a href="/api/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a></li></ul>`;
}

/** Returns the page with every option of a tool. Each of their names has an anchor. */
export function toolDocsPage(tool: Tool): Html {
  const { name, summary, ignored, refused } = tool;
  const groups = [...referenceOf(tool)];
  const idOf = (category: string) =>
    `category-${(category || DOCS.general).toLowerCase().replaceAll(' ', '-')}`;
  const sections = groups.map(([category, options]) => {
    const rows = options.map(({ option, rule, default: absent, scope }) => {
      const names = option.names.map(
        (each) => html`<a id="${each}" href="#${encodeURIComponent(each)}"><code>${each}</code></a> `,
      );
      const only = scope !== '' && html` <span class="muted">${TEXTS.try.only} ${withCode(scope)}.</span>`;
      return html`<tr><td>${names}</td><td>${withCode(option.description)}.${only}</td><td>${rule}</td><td>${absent ?? '–'}</td></tr>`;
    });
    return html`<section aria-labelledby="${idOf(category)}"><h2 id="${idOf(category)}">${category || DOCS.general}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="${idOf(category)}"><table class="options"><thead><tr><th scope="col">${DOCS.option}</th><th scope="col">${DOCS.effect}</th><th scope="col">${DOCS.value}</th><th scope="col">${DOCS.absent}</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
  });
  const list = (text: string, names: readonly string[]) =>
    names.length > 0 && html`<p>${text} ${names.map((each) => html`<code id="${each}">${each}</code> `)}</p>`;
  return html`<hgroup><h1>${name}</h1><p>${summary} <a href="/try#app=${name}">${TEXTS.nav.try}</a></p></hgroup>
<p class="contents">${groups.map(([category]) => html`<a href="#${idOf(category)}">${category || DOCS.general}</a> `)}</p>
${sections}${list(DOCS.ignored, ignored)}${list(DOCS.refused, refused)}`;
}

/** Sizes in bytes. */
export interface FileLimits {
  /** Maximum size of a source. */
  readonly maxSource: number;
  /** Maximum size of a file in a request. Larger ones are uploaded first. */
  readonly maxBody?: number | undefined;
  /** Hours for which results are kept. */
  readonly resultHours: number;
}

/** Returns the page for trying conversions. */
export function tryPage(tools: readonly Tool[], { maxSource, maxBody }: FileLimits): Html {
  const tabs = tools.map(({ name }) => html`<a href="#app=${name}" data-tool="${name}">${name}</a>`);
  const details = tools.map((tool) => toolOptions(tool));
  const ways = ['URL', 'curl', 'JavaScript', 'Python', 'PHP'].map(
    (way, index) =>
      html`<label><input type="radio" name="way" value="${way}"${index === 1 && html` checked`}>${way}</label>`,
  );
  return html`
<hgroup><h1>${TRY.title}</h1><p>${TRY.lead}</p></hgroup>
<noscript><p class="notice">${TRY.noScript}</p></noscript>
<nav class="tabs" aria-label="${TRY.tools}">${tabs}</nav>
<form id="try" autocomplete="off" novalidate data-max-source="${maxSource}"${maxBody !== undefined && html` data-max-body="${maxBody}"`}>
<div class="inputs">
<div class="field" data-field="infile">
<label for="infile">${TRY.source}</label>
<div class="source"><input id="infile" type="text" inputmode="url" autocapitalize="off" spellcheck="false" placeholder="https://" aria-describedby="infile-hint"><span id="file" hidden><span id="file-name"></span> <button type="button" class="secondary outline" id="remove" aria-label="${TRY.remove}">×</button></span>
<label class="choose" for="choose">${TRY.choose}</label><input id="choose" type="file" class="hidden-file"></div>
<small id="infile-hint">${TRY.sourceHint}</small>
<p id="samples">${tools.map(
    ({ name, example: { infile, outfile } }) =>
      html`<button type="button" class="chip" data-sample="${infile}" data-outfile="${outfile}" data-for="${name}" hidden>${TRY.sample} ${infile}</button>`,
  )}</p>
<p class="error" hidden></p></div>
<div class="pair">
<div class="field"><label for="format">${TRY.format}</label><select id="format"></select></div>
<div class="field" data-field="outfile"><label for="outfile">${TRY.outfile}</label><input id="outfile" type="text" spellcheck="false" aria-describedby="outfile-hint"><small id="outfile-hint">${TRY.outfileHint} <span id="each" hidden>${TRY.outfileEach}</span></small><p class="error" hidden></p></div>
</div>
<div class="field" data-field="apikey"><label for="apikey">${TRY.key}</label><input id="apikey" type="password" autocomplete="off" spellcheck="false" aria-describedby="apikey-hint"><small id="apikey-hint">${TRY.keyHint}</small><p class="error" hidden></p></div>
<div class="actions"><button type="submit" id="convert">${TRY.convert}</button><button type="button" class="secondary" id="cancel" hidden>${TRY.cancel}</button></div>
</div>
<div class="output">
<div id="status" role="status"></div>
<p class="error" id="failure" role="alert" hidden></p>
<section aria-labelledby="result-title"><h2 id="result-title">${TRY.result}</h2><div id="result" tabindex="-1"><p class="empty">${TRY.empty}</p></div></section>
<section aria-labelledby="call-title"><div class="call-head"><h2 id="call-title">${TRY.call}</h2><button type="button" class="secondary outline" id="copy">${TRY.copy}</button></div>
<fieldset class="ways"><legend class="unseen">${TRY.call}</legend>${ways}</fieldset>
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
<h2>${TRY.options}</h2>
<p class="muted">${summary} <a href="/docs/${name}">${TEXTS.nav.docs}</a></p>
<input type="search" class="search" aria-label="${TRY.search}" placeholder="${TRY.search}">
<p class="none muted" hidden>${TRY.noneFound}</p>
<div class="common">${first.map((each) => optionControl(each, idOf(each.option.names[0]!)))}</div>
<h3>${TRY.allOptions}</h3>
${isOrdered && html`<p class="muted">${TRY.operators}</p>`}
${others}</section>`;
}

/** Returns the control of an option, with `words` or else its description and its rule, and a place for its error. */
export function optionControl(
  { option, rule, default: absent, scope }: OptionReference,
  id: string,
  words?: string,
): Html {
  const [name = '', ...others] = option.names;
  const isSwitch = switchOf(option) !== undefined;
  const hints = [
    isSwitch || option.schema.enum ? undefined : html`${sentence(rule)} `,
    option.repeatable && html`${TEXTS.try.perLine} `,
    scope !== '' && html`${TEXTS.try.only} ${withCode(scope)}.`,
  ];
  const found = [name, ...others, option.description, rule, option.category].join(' ').toLowerCase();
  const label = html`<label for="${id}">${words ?? html`<code>${name}</code> ${withCode(option.description)}`}</label>`;
  const attributes = html`id="${id}" data-name="${name}" data-names="${option.names.join(' ')}" aria-describedby="${id}-hint"`;
  const control = controlOf(option, attributes, absent);
  return html`<div class="option${isSwitch && ' switch'}" data-text="${found}">
${isSwitch ? html`${control}${label}` : html`${label}${control}`}
<small id="${id}-hint">${words === undefined && hints}</small><p class="error" hidden></p></div>`;
}

/** Returns the value that the checkbox of a switch sends, or `undefined` if the option is not a switch. */
function switchOf({ words, default: absent, schema }: Option<unknown>): '1' | 'no' | undefined {
  const isEither = schema.type === 'boolean' && absent === undefined;
  if (words !== 'none' || isEither) return undefined;
  return absent === true ? 'no' : '1';
}

function controlOf(option: Option<unknown>, attributes: Html, absent: string | undefined): Html {
  const { schema, repeatable, words } = option;
  const value = switchOf(option);
  if (value)
    return html`<input type="checkbox" ${attributes} data-value="${value}"${value === 'no' && html` checked`}>`;
  if (words === 'none') return select(attributes, ['yes', 'no'], absent);
  if (repeatable) return html`<textarea rows="2" ${attributes} spellcheck="false"></textarea>`;
  if (Array.isArray(schema.enum)) return select(attributes, schema.enum as string[], absent);
  const placeholder = absent !== undefined && html` placeholder="${absent}"`;
  if (schema.type === 'integer' || schema.type === 'number') {
    const step = schema.type === 'number' && html` step="any"`;
    return html`<input type="number" min="${String(schema.minimum)}" max="${String(schema.maximum)}"${step} ${attributes}${placeholder}>`;
  }
  return html`<input type="text" autocomplete="off" autocapitalize="off" spellcheck="false" ${attributes}${placeholder}>`;
}

function select(attributes: Html, words: readonly string[], absent: string | undefined): Html {
  const first = absent === undefined ? TEXTS.try.byDefault : `${TEXTS.try.byDefault}: ${absent}`;
  return html`<select ${attributes}><option value="">${first}</option>${words.map((word) => html`<option>${word}</option>`)}</select>`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Returns the page that says what to send to the operator, and lists every error code with an anchor. */
export function supportPage(supportUrl: string | undefined): Html {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, description }]) =>
      html`<tr id="${code}"><td>${status}</td><td><a href="#${code}"><code>${code}</code></a></td><td>${withCode(description)}</td></tr>`,
  );
  const contact = supportUrl
    ? html`${SUPPORT.contactAt} <a href="${supportUrl}">${supportUrl}</a>.`
    : SUPPORT.operator;
  return html`<hgroup><h1>${SUPPORT.title}</h1><p>${SUPPORT.lead}</p></hgroup>
<h2>${SUPPORT.send}</h2><ul>${SUPPORT.items.map((item) => html`<li>${item}</li>`)}</ul>
<h2>${SUPPORT.contact}</h2><p>${contact}</p>
<h2 id="codes">${SUPPORT.codes}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="codes"><table><thead><tr><th scope="col">${SUPPORT.status}</th><th scope="col">${SUPPORT.code}</th><th scope="col">${SUPPORT.meaning}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
