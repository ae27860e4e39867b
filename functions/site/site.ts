import { gzipSync } from 'node:zlib';
import { readRequest, withSamples } from '../conversion/request.ts';
import { createKeylessLimit } from '../router/admission/admit.ts';
import type { HttpRequest } from '../router/http.ts';
import { commonParameters, llmsText } from '../router/reference.ts';
import { type HttpReply, problemsOf } from '../router/reply.ts';
import { ConversionError } from '../shared/errors.ts';
import { describe } from '../shared/log.ts';
import type { Tool } from '../shared/tool.ts';
import { type AccountDependencies, createAccounts } from './accounts/accounts.ts';
import { isOwnForm, sessionCookie, sessionIn } from './accounts/forms.ts';
import { frontPage } from './front.ts';
import { FRONT, type Language, languageOf } from './front-texts.ts';
import { type Asset, type Assets, Html, html } from './html.ts';
import { layout } from './layout.ts';
import { docsPage, type FileLimits, supportPage, toolDocsPage, tryPage } from './pages.ts';
import { TEXTS } from './texts.ts';

interface SiteDependencies extends FileLimits {
  readonly tools: readonly Tool[];
  readonly assets: Assets;
  /** Nobody can sign in if absent. */
  readonly accounts?: AccountDependencies | undefined;
  /** URL of the operator's support page, if it is not the site's own. */
  readonly supportUrl?: string | undefined;
  /** Origins of the results, if they differ from the site's origin. */
  readonly resultOrigins?: readonly string[];
  /** Base path of the site, such as `/api/site`. Defaults to the root. */
  readonly path?: string;
}

/** A request to the site that the router responds to. */
export interface Routed {
  readonly routed: HttpRequest;
}

export interface SiteReply extends HttpReply {
  readonly body: string | Buffer;
}

export interface Site {
  /** Responds to a request for a page, or hands a conversion to the router. Returns `undefined` for all other paths. */
  respond(request: HttpRequest, origin: string): Promise<SiteReply | Routed | undefined>;
}

/** Endpoints of the router that members use without a key, by their paths on the site. */
const CONVERSIONS: Readonly<Record<string, string>> = {
  '/site/convert': '/api/',
  '/site/convert/uploads': '/api/uploads',
};
/** Maximum query checks per minute and IP address. A page checks its query while the user types. */
const CHECKS_PER_MINUTE = 600;
/** Placeholder for the origin of the request in cached pages, which is replaced in each reply. */
const ORIGIN = 'https://origin.invalid';
/** Maximum number of origins to cache compressed pages for. A caller may send any host name. */
const MAX_ORIGINS = 10;

/** Creates the pages that people open in a browser. */
export function createSite(dependencies: SiteDependencies): Site {
  const { tools, assets, supportUrl, path: place = '' } = dependencies;
  const parameters = commonParameters(tools);
  const accounts = dependencies.accounts && createAccounts(dependencies.accounts);
  const checks = createKeylessLimit(CHECKS_PER_MINUTE);
  const texts = new Map<string, string>();
  const zipped = new Map<string, Buffer>();
  let origins = 0;
  const headers = pageHeaders(dependencies.resultOrigins ?? []);

  /** Contents of the pages. The first path of a name is its entry in the navigation. */
  const contents: Readonly<Record<string, (language: Language) => Html>> = {
    '/': (language) => frontPage(language, tools, dependencies),
    '/try': (language) => tryPage(tools, dependencies, language),
    '/docs': (language) => docsPage(tools, parameters, ORIGIN, language),
    ...Object.fromEntries(
      tools.map((tool) => [`/docs/${tool.name}`, (language: Language) => toolDocsPage(tool, language)]),
    ),
    '/support': (language) => supportPage(supportUrl, language),
  };
  const files = new Map<string, Asset>(Object.values(assets).map((asset: Asset) => [asset.path, asset]));

  /**
   * Adds the base path of the site to the links and forms of a page. Only markup contains quotes: they are escaped in
   * texts.
   */
  function placed(text: string): string {
    return place === ''
      ? text
      : text.replace(
          /\b(href|src|(?:form)?action)="(\/(?!api\/)[^"]*)"/g,
          (_, name, link) => `${name}="${at(link)}"`,
        );
  }

  /**
   * Adds the base path to a link of the site. API Gateway may not know the path of the first page with a trailing
   * slash.
   */
  const at = (link: string) => (place === '' ? link : `${place}${link.replace(/^\/(?=[#?]|$)/, '')}`);

  /** Returns one of the pages that are the same for everyone. */
  function page(path: string, main: Html, language: Language): string {
    const { title, nav } = FRONT[language];
    const [, first, tool] = path.split('/');
    const current = `/${first}` as keyof typeof nav;
    const hasScript = current === '/' || current === '/try';
    return layout(assets, {
      title: current === '/' ? title : (tool ?? nav[current]),
      current,
      hasScript,
      language,
      main,
    });
  }

  /** Returns a page that only has a message. */
  const notice = (kind: 'notFound' | 'failed', language: Language) => {
    const title = TEXTS[language][kind];
    return placed(layout(assets, { title, language, main: html`<h1>${title}</h1>` }));
  };

  /** Returns a text and renders it only once. */
  function textOf(name: string, render: () => string): string {
    const text = texts.get(name) ?? render();
    texts.set(name, text);
    return text;
  }

  /** Returns a text compressed, or `undefined` if it depends on the origin and too many origins are cached. */
  function compressed(name: string, text: string, origin: string): Buffer | undefined {
    const hasOrigin = text.includes(ORIGIN);
    const key = hasOrigin ? `${origin}${name}` : name;
    const known = zipped.get(key);
    if (known || (hasOrigin && origins >= MAX_ORIGINS)) return known;
    if (hasOrigin) origins += 1;
    const body = gzipSync(text.replaceAll(ORIGIN, origin));
    zipped.set(key, body);
    return body;
  }

  function send(
    request: HttpRequest,
    origin: string,
    own: SiteReply['headers'],
    render: () => string,
    name = request.path,
  ): SiteReply {
    const text = textOf(name, render);
    const acceptsGzip = /\bgzip\b/.test(request.header('accept-encoding') ?? '');
    const body = acceptsGzip ? compressed(name, text, origin) : undefined;
    const encoding = body && { 'Content-Encoding': 'gzip' };
    return {
      status: 200,
      headers: { ...headers, Vary: 'Accept-Encoding', ...own, ...encoding },
      body: body ?? text.replaceAll(ORIGIN, origin),
    };
  }

  // Any URL will do for a check.
  const sampleUrl = () => 'https://sample.invalid/';

  /** Returns every mistake in a query, without converting anything. */
  async function check({ query: sent, ip, unordered }: HttpRequest): Promise<SiteReply> {
    if (!checks.admits(ip)) return json(429, { errors: [] });
    checks.count(ip);
    try {
      const query = await withSamples(sent, { tools, sampleUrl });
      const { ignored } = readRequest(query, tools, { canUpload: true, unordered });
      return json(200, { errors: [], ignored: ignored.map(String) });
    } catch (thrown) {
      return json(200, { errors: problemsOf(ConversionError.from(thrown)) });
    }
  }

  /** Responds to a request below `/account` or `/operator`. */
  async function account(request: HttpRequest, origin: string): Promise<SiteReply> {
    const found = await accounts!.respond(request, origin, sessionIn(request, origin));
    const { status, location, session, cookie, member, main } = found;
    const own = {
      'Cache-Control': 'no-store',
      ...(location && { Location: /^\/(?!\/)/.test(location) ? at(location) : location }),
      ...(session !== undefined && { 'Set-Cookie': sessionCookie(origin, session) }),
      ...(cookie && { 'Set-Cookie': cookie }),
    };
    if (location) return { status, headers: { ...headers, ...own }, body: '' };
    const current = request.path.startsWith('/operator') ? '/operator' : '/account';
    const isOperator = member?.role === 'operator';
    // Pages for operators are in English.
    const language = main instanceof Html ? 'en' : languageIn(request);
    const problem = TEXTS[language][status === 500 ? 'failed' : 'notFound'];
    const body = layout(assets, {
      title: found.title ?? FRONT[language].nav['/account'],
      current,
      language,
      main: main instanceof Html ? main : (main?.(language) ?? html`<h1>${problem}</h1>`),
      isOperator,
      hasScript: true,
    });
    return { status, headers: { ...headers, ...own, 'Content-Language': language }, body: placed(body) };
  }

  const json = (status: number, value: unknown): SiteReply => ({
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
    body: JSON.stringify(value),
  });

  /** Tells the page who is signed in. */
  async function session(request: HttpRequest, origin: string): Promise<SiteReply> {
    const email = (await accounts?.memberOf(sessionIn(request, origin)))?.email;
    return json(200, { canSignIn: accounts !== undefined, ...(email !== undefined && { email }) });
  }

  /**
   * Hands a conversion to the router, for the account of whoever is signed in. Only forms and scripts of this site may
   * send it, because a browser adds the session to requests of other sites, too.
   */
  async function convert(request: HttpRequest, origin: string, target: string): Promise<SiteReply | Routed> {
    if (!isOwnForm(request, origin)) return json(403, { detail: TEXTS[languageIn(request)].account.refused });
    const member = await accounts?.keyOf(sessionIn(request, origin));
    return { routed: { ...request, path: target, ...(member && { member }) } };
  }

  const respond: Site['respond'] = async (sent, origin) => {
    if (sent.path !== place && !sent.path.startsWith(`${place}/`)) return undefined;
    const request = { ...sent, path: sent.path.slice(place.length) || '/' };
    const { path, method } = request;
    if (accounts?.has(path)) return account(request, origin);
    const isSent = method === 'POST' || method === 'DELETE';
    const target = isSent && Object.hasOwn(CONVERSIONS, path) && CONVERSIONS[path];
    if (target) return convert(request, origin, target);
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    if (path === '/site/session') return session(request, origin);
    if (path === '/site/check') return check(request);
    if (path === '/llms.txt')
      return send(request, origin, { 'Content-Type': 'text/plain; charset=utf-8' }, () => llmsText(tools));
    const file = files.get(path);
    if (file) {
      const cache = 'public, max-age=31536000, immutable';
      const own = { 'Content-Type': file.contentType, 'Cache-Control': cache };
      return send(request, origin, own, () => file.text);
    }
    const language = languageIn(request);
    const translated = { Vary: 'Accept-Encoding, Accept-Language', 'Content-Language': language };
    const content = Object.hasOwn(contents, path) ? contents[path] : undefined;
    if (content) {
      const render = () => placed(page(path, content(language), language));
      return send(request, origin, translated, render, `${path} ${language}`);
    }
    if (path.startsWith('/api') || path.startsWith('/files/')) return undefined;
    if (!request.header('accept')?.includes('text/html')) return undefined;
    return { status: 404, headers: { ...headers, ...translated }, body: notice('notFound', language) };
  };

  return {
    // A store that fails must neither reset the connection nor end the function.
    respond: (sent, origin) =>
      respond(sent, origin).catch((thrown: unknown) => {
        dependencies.accounts?.log('site failed', { cause: describe(thrown) }, 'error');
        const { status, message: detail } = ConversionError.from(thrown);
        if (sent.path.startsWith(`${place}/site/`)) return json(status, { detail });
        const body = notice('failed', languageIn(sent));
        return { status, headers: { ...headers, 'Cache-Control': 'no-store' }, body };
      }),
  };
}

const languageIn = ({ header }: HttpRequest) => languageOf(header('accept-language'));

/** Returns headers that allow only the site's own scripts and styles, and no framing by other sites. */
function pageHeaders(resultOrigins: readonly string[]): Readonly<Record<string, string>> {
  const results = ["'self'", ...resultOrigins].join(' ');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${results} data:`,
    `connect-src ${results}`,
    `frame-src ${results}`,
    // Without a script, a form is redirected to its result.
    `form-action ${results}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
  };
}
