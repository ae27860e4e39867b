import { languageTag } from '../../shared/options/language-tag.ts';
import {
  category,
  choice,
  flag,
  integer,
  isSentFile,
  option,
  readUrlOrFile,
  repeatable,
  text,
  textOrSource,
  type ValuesOf,
} from '../../shared/options/option.ts';
import { deviceNamed } from './devices.ts';

/** Headers that the connection or the browser sets. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|cookie2?|proxy-.*|sec-.*)$/i;

/** Maximum characters of a header or a cookie, with its name. */
const MAX_PAIR = 4200;

/** Reads `name:value`. The name is a token, the value has no line breaks. */
function pair(value: string): { name: string; value: string } | undefined {
  const match = /^([!#$%&'*+.^_`|~\w-]{1,100}):[ \t]*(.{0,4000})$/.exec(value);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}

function header(value: string) {
  const read = pair(value);
  return read && !OWN_HEADERS.test(read.name) && /^[\x20-\x7e]*$/.test(read.value) ? read : undefined;
}

function mediaFeature(value: string) {
  const match = /^(prefers-[a-z-]{1,40}|color-gamut|forced-colors):([a-z0-9-]{1,40})$/.exec(value);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}

function styleSheet(value: string): string | undefined {
  if (/^https?:\/\//i.test(value) || isSentFile(value)) return readUrlOrFile(value);
  return value === '' ? undefined : value;
}

function encoding(value: string): string | undefined {
  try {
    return new TextDecoder(value).encoding;
  } catch {
    return undefined;
  }
}

function timezone(value: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Reads `404`, `4xx` or several of them, comma-separated, as patterns of a status. */
function statusList(value: string): readonly string[] | undefined {
  const parts = value.toLowerCase().split(',');
  return parts.every((part) => /^[1-5](\d\d|xx)$/.test(part)) ? parts : undefined;
}

/** Conditions that only the page itself waits for, not a cover. */
export const waitOptions = {
  windowStatus: text('--window-status', { description: 'Wait until `window.status` has this value' }),
  waitForSelector: text('--wait-for-selector', {
    description: 'Wait until an element matches this CSS selector',
  }),
  waitForExpression: text('--wait-for-expression', {
    description: 'Wait until this JavaScript expression is true',
  }),
} as const;

/** Credentials, which are sent only to the page's own origin. */
export const credentialOptions = {
  headers: repeatable(
    option(
      '--custom-header',
      'Name:value, for any header except those of the connection such as Host',
      header,
      {
        words: 'pair',
        maxLength: MAX_PAIR,
        description: "Send this request header to the page's own origin. Repeatable",
      },
    ),
  ),
  cookies: repeatable(
    option('--cookie', 'name:value', pair, {
      words: 'pair',
      maxLength: MAX_PAIR,
      description: "Send this cookie to the page's own origin. Repeatable",
    }),
  ),
  username: text('--username', {
    max: 200,
    description: "Use this user name for HTTP authentication at the page's own origin",
  }),
  password: text('--password', {
    max: 200,
    with: ['username'],
    description: "Use this password for HTTP authentication at the page's own origin",
  }),
} as const;

/** Options of both tools that open a page, named as in wkhtmltopdf. */
export const pageOptions = {
  ...category('Content', {
    printMedia: flag('--print-media-type', {
      off: '--no-print-media-type',
      description: 'Use the style sheets for print instead of those for screens',
    }),
    javascript: flag('--enable-javascript', {
      default: true,
      off: ['--disable-javascript', '-n'],
      description: 'Run the scripts of the page',
    }),
    encoding: option('--encoding', 'the name of an encoding such as utf-8 or windows-1252', encoding, {
      description: 'Read pages that do not declare their encoding in this one. Uploads are UTF-8 by default',
    }),
    images: flag('--images', { default: true, off: '--no-images', description: 'Load images' }),
    styleSheet: textOrSource(
      option('--user-style-sheet', 'CSS, or an http or https URL', styleSheet, {
        description: 'Add this CSS, or the CSS at this URL',
      }),
    ),
    hide: repeatable(
      text('--hide', {
        protects: true,
        description: 'Leave out elements that match this CSS selector. Repeatable',
      }),
    ),
    minimumFontSize: integer('--minimum-font-size', {
      min: 1,
      max: 72,
      description: 'Enlarge smaller text to this size in CSS pixels',
    }),
  }),
  ...category('Loading', {
    javascriptDelay: integer('--javascript-delay', {
      min: 0,
      max: 20_000,
      description:
        'Wait this many milliseconds after the page has loaded, before waiting for it to stop changing',
    }),
    ...waitOptions,
    waitUntil: choice('--wait-until', ['load', 'domcontentloaded', 'networkidle0', 'networkidle2'], {
      description:
        'Consider the page loaded at this event. `networkidle0` and `networkidle2`: at most 0 or 2 requests in progress for half a second',
    }),
    loadErrors: choice('--load-error-handling', ['abort', 'ignore', 'skip'], {
      default: 'abort',
      description:
        'If the page returns an error status, report an error (`abort`) or convert the response (`ignore`, `skip`)',
    }),
    mediaErrors: choice('--load-media-error-handling', ['abort', 'ignore', 'skip'], {
      default: 'ignore',
      description: 'If an image, style sheet or script fails to load, report an error (`abort`) or continue',
    }),
    failOnException: flag('--fail-on-console-exception', {
      description: 'Report an error if a script on the page throws an exception',
    }),
    failOnStatus: option('--fail-on-status', 'statuses such as 404 or 4xx, separated by commas', statusList, {
      maxLength: 200,
      description: 'Report an error if the page or one of its resources returns one of these statuses',
    }),
  }),
  ...category('Requests', {
    ...credentialOptions,
    userAgent: text('--user-agent', {
      max: 500,
      pattern: /^[\x20-\x7e]+$/,
      rule: 'at most 500 printable ASCII characters',
      description: 'Send this `User-Agent` header',
    }),
  }),
  ...category('Uploads', {
    network: flag('--enable-network', {
      inputs: ['upload'],
      description:
        'Let an uploaded page load images, style sheets and scripts from the internet, and let its scripts send requests',
    }),
  }),
  ...category('Emulation', {
    mediaFeatures: repeatable(
      option(
        '--media-features',
        'a prefers-* feature, color-gamut or forced-colors with a value, such as prefers-color-scheme:dark',
        mediaFeature,
        {
          description: 'Emulate this CSS media feature, for example `prefers-color-scheme:dark`. Repeatable',
        },
      ),
    ),
    timezone: option('--timezone', 'an IANA time zone such as Europe/Berlin', timezone, {
      default: 'UTC' as const,
      description: 'Use this time zone for scripts, and for dates in headers and footers',
    }),
    locale: option('--locale', 'a language tag such as de-DE', languageTag, {
      default: 'en-US' as const,
      description: 'Use this language for `Accept-Language` and `navigator.language`',
    }),
    device: option(
      '--device',
      "the name of a Puppeteer device, such as 'iPhone 15' or 'Pixel 5 landscape'",
      (value: string) => deviceNamed(value)?.name,
      {
        description:
          'Emulate this phone or tablet: the size and pixel ratio of its screen, touch input and `User-Agent`. The names are those of Puppeteer',
      },
    ),
  }),
} as const;

export type PageOptions = ValuesOf<typeof pageOptions>;

/** Options of wkhtmltopdf and wkhtmltoimage that have no effect here. */
export const ignoredPageNames: readonly string[] = (
  '--debug-javascript --no-debug-javascript --enable-plugins --disable-plugins --stop-slow-scripts ' +
  '--no-stop-slow-scripts --custom-header-propagation --no-custom-header-propagation ' +
  '--disable-local-file-access --log-level --quiet -q --use-xserver ' +
  '--checkbox-checked-svg --checkbox-svg --radiobutton-checked-svg --radiobutton-svg'
).split(' ');

/** Options that would access files or the network, or run code. */
export const refusedPageNames: readonly string[] = (
  '--allow --enable-local-file-access --bypass-proxy-for --proxy -p --proxy-hostname-lookup ' +
  '--cookie-jar --cache-dir --post --post-file --run-script --ssl-crt-path --ssl-key-path ' +
  '--ssl-key-password --read-args-from-stdin'
).split(' ');

const SEND_FILES =
  "No page can read files of the service. Send the page with its files: -F infile=@page.html -F 'asset=@a.png'.";

/** Sentences that follow the errors for refused options. */
export const insteadOfRefused: Readonly<Record<string, string>> = {
  '--allow': SEND_FILES,
  '--enable-local-file-access': SEND_FILES,
};
