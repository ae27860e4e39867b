import { referenceOf } from '../../shared/options/reference.ts';
import type { Tool } from '../../shared/tool.ts';
import { type Html, html, withCode } from '../html.ts';
import { TEXTS } from '../texts.ts';

const { docs: TEXT } = TEXTS;

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
  return html`<hgroup><h1>${TEXT.title}</h1><p>${TEXT.lead}</p></hgroup>
<pre tabindex="0"><code>${curl} '${origin}/api/?app=html2pdf&infile=https%3A%2F%2Fexample.com%2F&outfile=page.pdf'</code></pre>
<h2>${TEXT.tools}</h2><div class="cards">${cards}</div>
<h2 id="files">${TEXT.files}</h2>
<p>${TEXT.sendFile}</p>
<pre tabindex="0"><code>${curl} -F app=doc2any -F outfile=letter.pdf -F infile=@letter.docx '${origin}/api/'</code></pre>
<p>${TEXT.sendPage}</p>
<pre tabindex="0"><code>${curl} -F app=html2pdf -F outfile=page.pdf -F infile=@page.html -F 'asset=@a.png;filename=images/a.png' '${origin}/api/'</code></pre>
<p>${TEXT.upload}</p>
<pre tabindex="0"><code>${curl} -d name=letter.docx '${origin}/api/uploads'</code></pre>
<h2>${TEXT.parameters}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="${TEXT.parameters}"><table><thead><tr><th scope="col">${TEXT.option}</th><th scope="col">${TEXT.effect}</th></tr></thead><tbody>${rows}</tbody></table></div>
<h2>${TEXT.more}</h2><ul><li><a href="/support#codes">${TEXTS.support.codes}</a></li><li>${TEXT.description}: <a href="/api/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a></li></ul>`;
}

/** Returns the page with every option of a tool. Each of their names has an anchor. */
export function toolDocsPage(tool: Tool): Html {
  const { name, summary, ignored, refused } = tool;
  const groups = [...referenceOf(tool)];
  const idOf = (category: string) =>
    `category-${(category || TEXT.general).toLowerCase().replaceAll(' ', '-')}`;
  const sections = groups.map(([category, options]) => {
    const rows = options.map(({ option, rule, default: absent, scope }) => {
      const names = option.names.map(
        (each) => html`<a id="${each}" href="#${encodeURIComponent(each)}"><code>${each}</code></a> `,
      );
      const only = scope !== '' && html` <span class="muted">${TEXTS.try.only} ${withCode(scope)}.</span>`;
      return html`<tr><td>${names}</td><td>${withCode(option.description)}.${only}</td><td>${rule}</td><td>${absent ?? '–'}</td></tr>`;
    });
    return html`<section aria-labelledby="${idOf(category)}"><h2 id="${idOf(category)}">${category || TEXT.general}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="${idOf(category)}"><table class="options"><thead><tr><th scope="col">${TEXT.option}</th><th scope="col">${TEXT.effect}</th><th scope="col">${TEXT.value}</th><th scope="col">${TEXT.absent}</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
  });
  const list = (text: string, names: readonly string[]) =>
    names.length > 0 && html`<p>${text} ${names.map((each) => html`<code id="${each}">${each}</code> `)}</p>`;
  return html`<hgroup><h1>${name}</h1><p>${summary} <a href="/try#app=${name}">${TEXTS.nav.try}</a></p></hgroup>
<p class="contents">${groups.map(([category]) => html`<a href="#${idOf(category)}">${category || TEXT.general}</a> `)}</p>
${sections}${list(TEXT.ignored, ignored)}${list(TEXT.refused, refused)}`;
}
