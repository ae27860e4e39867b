import { ERRORS } from '../shared/errors.ts';
import type { Option } from '../shared/options/option.ts';
import { type OptionReference, referenceOf } from '../shared/options/reference.ts';
import type { Tool } from '../shared/tool.ts';
import { FRONT, type Language } from './front-texts.ts';
import { type Html, html, withCode } from './html.ts';
import { TEXTS } from './texts.ts';

/** The words around an option on the page with all of them, which is in English as its description is. */
const OPTION = { perLine: 'One per line.', only: 'Only', others: 'Other', general: 'General' };
/** Marks what is in English on pages in any language. */
const ENGLISH = html` lang="en"`;

interface DocsInput {
  readonly name: string;
  readonly description: string;
}

/** Returns the overview: how to call the service, the parameters that all tools share, and the tools. */
export function docsPage(
  tools: readonly Tool[],
  parameters: readonly DocsInput[],
  origin: string,
  language: Language,
): Html {
  const { docs: text, support } = TEXTS[language];
  const rows = parameters.map(
    ({ name, description }) =>
      html`<tr id="${name}"><td><a href="#${name}"><code>${name}</code></a></td><td>${withCode(description)}</td></tr>`,
  );
  const cards = tools.map(
    ({ name, summary, formats }) =>
      html`<article><h3><a href="/docs/${name}">${name}</a></h3><p${ENGLISH}>${summary}</p><p class="muted">${formats.map((format) => `.${format}`).join(' ')}</p></article>`,
  );
  const curl = 'curl -H "X-Api-Key: $API_KEY"';
  return html`<hgroup><h1>${FRONT[language].nav['/docs']}</h1><p>${text.lead}</p></hgroup>
<pre tabindex="0"><code>${curl} '${origin}/api/?app=html2pdf&infile=https%3A%2F%2Fexample.com%2F&outfile=page.pdf'</code></pre>
<h2>${text.tools}</h2><div class="cards">${cards}</div>
<h2 id="files">${text.files}</h2>
<p>${text.sendFile}</p>
<pre tabindex="0"><code>${curl} -F app=doc2any -F outfile=letter.pdf -F infile=@letter.docx '${origin}/api/'</code></pre>
<p>${text.sendPage}</p>
<pre tabindex="0"><code>${curl} -F app=html2pdf -F outfile=page.pdf -F infile=@page.html -F 'asset=@a.png;filename=images/a.png' '${origin}/api/'</code></pre>
<p>${text.upload}</p>
<pre tabindex="0"><code>${curl} -d name=letter.docx '${origin}/api/uploads'</code></pre>
<h2>${text.parameters}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="${text.parameters}"><table><thead><tr><th scope="col">${text.option}</th><th scope="col">${text.effect}</th></tr></thead><tbody${ENGLISH}>${rows}</tbody></table></div>
<h2>${text.more}</h2><ul><li><a href="/support#codes">${support.codes}</a></li><li><a href="/api/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a></li></ul>`;
}

/** Returns the page with every option of a tool. Each of their names has an anchor. */
export function toolDocsPage(tool: Tool, language: Language): Html {
  const text = TEXTS[language].docs;
  const { name, summary, ignored, refused } = tool;
  const groups = [...referenceOf(tool)];
  const idOf = (category: string) =>
    `category-${(category || OPTION.general).toLowerCase().replaceAll(' ', '-')}`;
  const sections = groups.map(([category, options]) => {
    const rows = options.map(({ option, rule, default: absent, scope }) => {
      const names = option.names.map(
        (each) => html`<a id="${each}" href="#${encodeURIComponent(each)}"><code>${each}</code></a> `,
      );
      const only = scope !== '' && html` <span class="muted">${OPTION.only} ${withCode(scope)}.</span>`;
      return html`<tr><td>${names}</td><td>${withCode(option.description)}.${only}</td><td>${rule}</td><td>${absent ?? '–'}</td></tr>`;
    });
    return html`<section aria-labelledby="${idOf(category)}"><h2 id="${idOf(category)}"${ENGLISH}>${category || OPTION.general}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="${idOf(category)}"><table class="options"><thead><tr><th scope="col">${text.option}</th><th scope="col">${text.effect}</th><th scope="col">${text.value}</th><th scope="col">${text.absent}</th></tr></thead><tbody${ENGLISH}>${rows}</tbody></table></div></section>`;
  });
  const list = (label: string, names: readonly string[]) =>
    names.length > 0 &&
    html`<p>${label} ${names.map((each) => html`<code id="${each}">${each}</code> `)}</p>`;
  return html`<hgroup><h1>${name}</h1><p><span${ENGLISH}>${summary}</span> <a href="/try#app=${name}">${FRONT[language].nav['/try']}</a></p></hgroup>
<p class="contents"${ENGLISH}>${groups.map(([category]) => html`<a href="#${idOf(category)}">${category || OPTION.general}</a> `)}</p>
${sections}${list(text.ignored, ignored)}${list(text.refused, refused)}`;
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
export function tryPage(
  tools: readonly Tool[],
  { maxSource, maxBody }: FileLimits,
  language: Language,
): Html {
  const { try: text, docs } = TEXTS[language];
  const front = FRONT[language];
  const tabs = tools.map(({ name }) => html`<a href="#app=${name}" data-tool="${name}">${name}</a>`);
  const details = tools.map((tool) => toolOptions(tool, language));
  const ways = ['URL', 'curl', 'JavaScript', 'Python', 'PHP'].map(
    (way, index) =>
      html`<label><input type="radio" name="way" value="${way}"${index === 1 && html` checked`}>${way}</label>`,
  );
  return html`
<hgroup><h1>${front.nav['/try']}</h1><p>${text.lead}</p></hgroup>
<noscript><p class="notice">${text.noScript}</p></noscript>
<nav class="tabs" aria-label="${docs.tools}">${tabs}</nav>
<form id="try" autocomplete="off" novalidate data-max-source="${maxSource}"${maxBody !== undefined && html` data-max-body="${maxBody}"`}>
<div class="inputs">
<div class="field" data-field="infile">
<label for="infile">${text.source}</label>
<div class="source"><input id="infile" type="text" inputmode="url" autocapitalize="off" spellcheck="false" placeholder="https://" aria-describedby="infile-hint"><span id="file" hidden><span id="file-name"></span> <button type="button" class="secondary outline" id="remove">×</button></span>
<label class="choose" for="choose">${text.choose}</label><input id="choose" type="file" class="hidden-file"></div>
<small id="infile-hint">${text.sourceHint}</small>
<p id="samples">${front.samples} ${tools.map(
    ({ name, example: { infile, outfile } }) =>
      html`<button type="button" class="chip" data-sample="${infile}" data-outfile="${outfile}" data-for="${name}" hidden>${infile}</button>`,
  )}</p>
<p class="error" hidden></p></div>
<div class="pair">
<div class="field"><label for="format">Format</label><select id="format"></select></div>
<div class="field" data-field="outfile"><label for="outfile">${text.outfile}</label><input id="outfile" type="text" spellcheck="false" aria-describedby="outfile-hint"><small id="outfile-hint">${text.outfileHint} <span id="each" hidden>${text.outfileEach}</span></small><p class="error" hidden></p></div>
</div>
<div class="field" data-field="apikey"><label for="apikey">${front.key}</label><input id="apikey" type="password" autocomplete="off" spellcheck="false" aria-describedby="apikey-hint"><small id="apikey-hint">${text.keyHint}</small><p class="error" hidden></p></div>
<div class="actions"><button type="submit" id="convert">${front.convert(1)}</button><button type="button" class="secondary" id="cancel" hidden>${front.cancel}</button></div>
</div>
<div class="output">
<div id="status" role="status"></div>
<p class="error" id="failure" role="alert" hidden></p>
<section aria-labelledby="result-title"><h2 id="result-title">${text.result}</h2><div id="result" tabindex="-1"><p class="empty">${text.empty}</p></div></section>
<section aria-labelledby="call-title"><div class="call-head"><h2 id="call-title">${text.call}</h2><button type="button" class="secondary outline" id="copy">${text.copy}</button></div>
<fieldset class="ways"><legend class="unseen">${text.call}</legend>${ways}</fieldset>
<pre id="call" tabindex="0"><code></code></pre></section>
</div>
<div class="settings">${details}</div>
</form>`;
}

/** Returns the options of a tool: the common ones first, then all others by category. */
function toolOptions(tool: Tool, language: Language): Html {
  const text = TEXTS[language].try;
  const front = FRONT[language];
  const { name, common = [], formats, paged, summary } = tool;
  const groups = [...referenceOf(tool)];
  const all = groups.flatMap(([, options]) => options);
  const isCommon = (names: readonly string[]) => common.some((known) => names.includes(known));
  const idOf = (optionName: string) => `${name}${optionName}`;
  const first = common.flatMap((known) => all.filter(({ option }) => option.names.includes(known)));
  const others = groups.map(([category, options]) => {
    const rest = options.filter(({ option }) => !isCommon(option.names));
    return html`<details${ENGLISH}><summary>${category || OPTION.others} <small>${rest.length}</small></summary>${rest.map((each) => optionControl(each, idOf(each.option.names[0]!)))}</details>`;
  });
  const isOrdered = Object.values(tool.options).some(({ readers }) => readers);
  return html`<section class="tool" data-tool="${name}" data-formats="${formats.join(' ')}" data-paged="${paged.join(' ')}"${isOrdered && html` data-ordered`} hidden>
<h2>${front.options}</h2>
<p class="muted"><span${ENGLISH}>${summary}</span> <a href="/docs/${name}">${front.nav['/docs']}</a></p>
<input type="search" class="search" aria-label="${text.search}" placeholder="${text.search}">
<p class="none muted" hidden>${text.noneFound}</p>
<div class="common"${ENGLISH}>${first.map((each) => optionControl(each, idOf(each.option.names[0]!)))}</div>
<h3>${front.allOptions}</h3>
${isOrdered && html`<p class="muted">${text.operators}</p>`}
${others}</section>`;
}

/** Returns the control of an option, with `words` in `language`, or else its description and its rule, and a place for its error. */
export function optionControl(
  { option, rule, default: absent, scope }: OptionReference,
  id: string,
  words?: string,
  language: Language = 'en',
): Html {
  const [name = ''] = option.names;
  const isSwitch = switchOf(option) !== undefined;
  const hints = [
    isSwitch || option.schema.enum ? undefined : html`${sentence(rule)} `,
    option.repeatable && html`${OPTION.perLine} `,
    scope !== '' && html`${OPTION.only} ${withCode(scope)}.`,
  ];
  const label = html`<label for="${id}">${words ?? html`<code>${name}</code> ${withCode(option.description)}`}</label>`;
  const attributes = html`id="${id}" data-name="${name}" data-names="${option.names.join(' ')}" aria-describedby="${id}-hint"`;
  const control = controlOf(option, attributes, absent, FRONT[language].byDefault);
  return html`<div class="option${isSwitch && ' switch'}">
${isSwitch ? html`${control}${label}` : html`${label}${control}`}
<small id="${id}-hint">${words === undefined && hints}</small><p class="error" hidden></p></div>`;
}

/** Returns the value that the checkbox of a switch sends, or `undefined` if the option is not a switch. */
function switchOf({ words, default: absent, schema }: Option<unknown>): '1' | 'no' | undefined {
  const isEither = schema.type === 'boolean' && absent === undefined;
  if (words !== 'none' || isEither) return undefined;
  return absent === true ? 'no' : '1';
}

function controlOf(
  option: Option<unknown>,
  attributes: Html,
  absent: string | undefined,
  byDefault: string,
): Html {
  const first = absent === undefined ? byDefault : `${byDefault}: ${absent}`;
  const { schema, repeatable, words } = option;
  const value = switchOf(option);
  if (value)
    return html`<input type="checkbox" ${attributes} data-value="${value}"${value === 'no' && html` checked`}>`;
  if (words === 'none') return select(attributes, ['yes', 'no'], first);
  if (repeatable) return html`<textarea rows="2" ${attributes} spellcheck="false"></textarea>`;
  if (Array.isArray(schema.enum)) return select(attributes, schema.enum as string[], first);
  const placeholder = absent !== undefined && html` placeholder="${absent}"`;
  if (schema.type === 'integer' || schema.type === 'number') {
    const step = schema.type === 'number' && html` step="any"`;
    return html`<input type="number" min="${String(schema.minimum)}" max="${String(schema.maximum)}"${step} ${attributes}${placeholder}>`;
  }
  return html`<input type="text" autocomplete="off" autocapitalize="off" spellcheck="false" ${attributes}${placeholder}>`;
}

function select(attributes: Html, words: readonly string[], first: string): Html {
  return html`<select ${attributes}><option value="">${first}</option>${words.map((word) => html`<option>${word}</option>`)}</select>`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Returns the page that says what to send to the operator, and lists every error code with an anchor. */
export function supportPage(supportUrl: string | undefined, language: Language): Html {
  const text = TEXTS[language].support;
  const rows = Object.entries(ERRORS).map(
    ([code, { status, description }]) =>
      html`<tr id="${code}"><td>${status}</td><td><a href="#${code}"><code>${code}</code></a></td><td>${withCode(description)}</td></tr>`,
  );
  const contact = supportUrl
    ? html`${text.operator} <a href="${supportUrl}">${supportUrl}</a>`
    : text.operator;
  return html`<hgroup><h1>${FRONT[language].nav['/support']}</h1><p>${text.lead}</p></hgroup>
<h2>${text.send}</h2><ul>${text.items.map((item) => html`<li>${item}</li>`)}</ul>
<h2>${text.contact}</h2><p>${contact}</p>
<h2 id="codes">${text.codes}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="codes"><table><thead><tr><th scope="col">${text.status}</th><th scope="col">Code</th><th scope="col">${text.meaning}</th></tr></thead><tbody${ENGLISH}>${rows}</tbody></table></div>`;
}
