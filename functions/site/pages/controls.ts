import type { Option } from '../../shared/options/option.ts';
import type { OptionReference } from '../../shared/options/reference.ts';
import { type Html, html, withCode } from '../html.ts';
import { TEXTS } from '../texts.ts';

/** Returns the control of an option, with its description and a place for its error. */
export function optionControl({ option, rule, default: absent, scope }: OptionReference, id: string): Html {
  const [name = '', ...others] = option.names;
  const isSwitch = switchOf(option) !== undefined;
  const hints = [
    isSwitch || option.schema.enum ? undefined : html`${sentence(rule)} `,
    option.repeatable && html`${TEXTS.try.perLine} `,
    scope !== '' && html`${TEXTS.try.only} ${withCode(scope)}.`,
  ];
  const found = [name, ...others, option.description, rule, option.category].join(' ').toLowerCase();
  const label = html`<label for="${id}"><code>${name}</code> ${withCode(option.description)}</label>`;
  const attributes = html`id="${id}" data-name="${name}" data-names="${option.names.join(' ')}" aria-describedby="${id}-hint"`;
  const control = controlOf(option, attributes, absent);
  return html`<div class="option${isSwitch && ' switch'}" data-text="${found}">
${isSwitch ? html`${control}${label}` : html`${label}${control}`}
<small id="${id}-hint">${hints}</small><p class="error" hidden></p></div>`;
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
