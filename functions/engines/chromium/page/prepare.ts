import type { Device, Protocol } from 'puppeteer-core';
import { ConversionError } from '../../../shared/errors.ts';
import { declaresEncoding, HEAD_BYTES } from '../../../shared/source/file-kind.ts';
import { USER_AGENT } from '../browser/flags.ts';
import { DESKTOP_HINTS, deviceNamed, platformOf } from '../devices.ts';
import type { PageRequest } from '../request.ts';
import { type Session, setViewport, type Viewport } from './session.ts';

/** The browser's defaults, which need no command. */
const USUAL_LOCALE = 'en-US';
const USUAL_TIMEZONE = 'UTC';

/** Applies the options to a blank page, before it navigates. */
export async function prepare(session: Session, request: PageRequest, viewport: Viewport): Promise<void> {
  const { protocol, relay } = session;
  const { url, options, proxyPort } = request;
  relay.lead(proxyPort);
  const commands: Promise<unknown>[] = [setViewport(session, viewport), interceptRequests(session, request)];
  if (options.printMedia || options.mediaFeatures.length > 0) {
    const media = options.printMedia ? 'print' : 'screen';
    commands.push(
      protocol.send('Emulation.setEmulatedMedia', { media, features: [...options.mediaFeatures] }),
    );
  }
  if (!options.javascript) {
    commands.push(protocol.send('Emulation.setScriptExecutionDisabled', { value: true }));
  }
  const device = options.device === undefined ? undefined : deviceNamed(options.device);
  if (device?.viewport.hasTouch) {
    commands.push(protocol.send('Emulation.setTouchEmulationEnabled', { enabled: true }));
  }
  commands.push(protocol.send('Network.setUserAgentOverride', identityOf(options, device)));
  if (options.locale !== USUAL_LOCALE) {
    commands.push(protocol.send('Emulation.setLocaleOverride', { locale: options.locale }));
  }
  if (options.timezone !== USUAL_TIMEZONE) {
    commands.push(protocol.send('Emulation.setTimezoneOverride', { timezoneId: options.timezone }));
  }
  if (options.failOnException) commands.push(protocol.send('Runtime.enable'));
  if (options.cookies.length > 0) {
    // Scoped by URL instead of domain, so that the cookie is sent to this host and port only.
    const { protocol: scheme, port } = new URL(url);
    const secure = scheme === 'https:';
    const sourcePort = Number(port || (secure ? 443 : 80));
    const cookies = options.cookies.map((cookie) => ({ ...cookie, url, secure, sourcePort }));
    commands.push(
      protocol.send('Network.setCookies', { cookies }).catch((cause) => {
        throw new ConversionError('BAD_PARAMETER', "Parameter '--cookie' must be name:value.", {
          cause,
          parameter: '--cookie',
        });
      }),
    );
  }
  await Promise.all(commands);
}

/**
 * Returns the identity that a page sees. A `User-Agent` from the caller is sent without client hints, which would
 * contradict it.
 */
function identityOf(
  { userAgent, locale }: PageRequest['options'],
  device: Device | undefined,
): Protocol.Network.SetUserAgentOverrideRequest {
  const acceptLanguage = locale === USUAL_LOCALE ? {} : { acceptLanguage: locale };
  if (userAgent !== undefined) return { userAgent, ...acceptLanguage };
  if (device) return { userAgent: device.userAgent, ...platformOf(device), ...acceptLanguage };
  return { userAgent: USER_AGENT, userAgentMetadata: DESKTOP_HINTS, ...acceptLanguage };
}

/** Adds the caller's headers to requests to the page's own origin, and blocks images if they are disabled. */
async function interceptRequests({ protocol }: Session, { url, options }: PageRequest): Promise<void> {
  const { origin } = new URL(url);
  const added = addedHeaders(options);
  const patterns = patternsOf(options);
  if (patterns.length === 0) return;
  if (options.encoding !== undefined) onDocuments(protocol, options.encoding);

  const names = new Set(added.map(({ name }) => name.toLowerCase()));
  protocol.on('Fetch.requestPaused', (event) => {
    if (isResponse(event)) return;
    const { requestId, request, resourceType } = event;
    if (!options.images && resourceType === 'Image') {
      protocol.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => {});
      return;
    }
    const own = URL.parse(request.url)?.origin === origin;
    const kept = Object.entries(request.headers)
      .filter(([name]) => !names.has(name.toLowerCase()))
      .map(([name, value]) => ({ name, value: withoutPath(name, value) }));
    const headers = own ? [...kept, ...added] : kept;
    protocol.send('Fetch.continueRequest', { requestId, headers }).catch(() => {});
  });
  await protocol.send('Fetch.enable', { patterns });
}

function addedHeaders(options: PageRequest['options']) {
  return [...options.headers, ...authorization(options)];
}

function patternsOf(options: PageRequest['options']): Protocol.Fetch.RequestPattern[] {
  return [
    // All requests: a redirect to another origin is a new request, from which the headers must be removed.
    ...(addedHeaders(options).length > 0 ? [{ urlPattern: '*' }] : []),
    ...(options.images ? [] : [{ urlPattern: '*', resourceType: 'Image' as const }]),
    ...(options.encoding === undefined ? [] : [DOCUMENTS]),
  ];
}

const DOCUMENTS = { urlPattern: '*', resourceType: 'Document', requestStage: 'Response' } as const;

function isResponse({ responseStatusCode, responseErrorReason }: Protocol.Fetch.RequestPausedEvent): boolean {
  return responseStatusCode !== undefined || responseErrorReason !== undefined;
}

/**
 * Shows documents that servers send as attachments. Called only if there is one, because it delays every response.
 */
export async function showAttachments({ protocol }: Session, { options }: PageRequest): Promise<void> {
  // Otherwise, documents are paused already.
  if (options.encoding !== undefined) return;
  onDocuments(protocol);
  await protocol.send('Fetch.enable', { patterns: [...patternsOf(options), DOCUMENTS] });
}

/** Shows documents in any case, and those that do not declare their encoding in this one. */
function onDocuments(protocol: Session['protocol'], encoding?: string): void {
  protocol.on('Fetch.requestPaused', (event) => {
    if (!isResponse(event)) return;
    const { requestId, responseStatusCode, responseHeaders = [] } = event;
    const show = async () => {
      let kept = responseHeaders.filter(({ name }) => name.toLowerCase() !== 'content-disposition');
      const type = kept.find(({ name }) => name.toLowerCase() === 'content-type');
      if (
        encoding !== undefined &&
        responseStatusCode !== undefined &&
        /^text\/[^;]*(;(?!.*charset).*)?$/i.test(type?.value ?? '')
      ) {
        const { body, base64Encoded } = await protocol.send('Fetch.getResponseBody', { requestId });
        const bytes = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
        if (!declaresEncoding(bytes.toString('latin1', 0, HEAD_BYTES)))
          kept = kept.map((header) =>
            header === type ? { ...header, value: `${header.value}; charset=${encoding}` } : header,
          );
        return protocol.send('Fetch.fulfillRequest', {
          requestId,
          responseCode: responseStatusCode,
          responseHeaders: kept,
          body: bytes.toString('base64'),
        });
      }
      const isChanged = responseStatusCode !== undefined && kept.length < responseHeaders.length;
      const change = isChanged ? { responseCode: responseStatusCode, responseHeaders: kept } : {};
      return protocol.send('Fetch.continueResponse', { requestId, ...change });
    };
    show().catch(() => protocol.send('Fetch.continueResponse', { requestId }).catch(() => {}));
  });
}

/** Removes the path of a referrer. Chromium would otherwise send all of it after a redirect to another origin. */
function withoutPath(name: string, value: string): string {
  if (name.toLowerCase() !== 'referer') return value;
  const referrer = URL.parse(value);
  return referrer ? `${referrer.origin}/` : '';
}

/** Returns the credentials, which are sent without a challenge, because a challenge can come from any origin. */
function authorization({ username, password }: PageRequest['options']) {
  if (username === undefined && password === undefined) return [];
  const credentials = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
  return [{ name: 'Authorization', value: `Basic ${credentials}` }];
}
