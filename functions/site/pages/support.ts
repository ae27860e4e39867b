import { ERRORS } from '../../shared/errors.ts';
import { type Html, html, withCode } from '../html.ts';
import { TEXTS } from '../texts.ts';

const { support: TEXT } = TEXTS;

/** Returns the page that says what to send to the operator, and lists every error code with an anchor. */
export function supportPage(supportUrl: string | undefined): Html {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, description }]) =>
      html`<tr id="${code}"><td>${status}</td><td><a href="#${code}"><code>${code}</code></a></td><td>${withCode(description)}</td></tr>`,
  );
  const contact = supportUrl
    ? html`${TEXT.contactAt} <a href="${supportUrl}">${supportUrl}</a>.`
    : TEXT.operator;
  return html`<hgroup><h1>${TEXT.title}</h1><p>${TEXT.lead}</p></hgroup>
<h2>${TEXT.send}</h2><ul>${TEXT.items.map((item) => html`<li>${item}</li>`)}</ul>
<h2>${TEXT.contact}</h2><p>${contact}</p>
<h2 id="codes">${TEXT.codes}</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="codes"><table><thead><tr><th scope="col">${TEXT.status}</th><th scope="col">${TEXT.code}</th><th scope="col">${TEXT.meaning}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
