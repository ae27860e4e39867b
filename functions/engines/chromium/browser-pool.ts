import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { EgressGuard } from '../../shared/egress/guard.ts';
import { ConversionError, ofOption } from '../../shared/errors.ts';
import { withAnySignal } from '../../shared/time.ts';
import type { Conversion, EngineDependencies } from '../../shared/tool.ts';
import { nodeEnvironment } from '../worker/node-environment.ts';
import { WorkerPool } from '../worker/pool.ts';
import type { WorkerCommand } from '../worker/process.ts';
import type { PageOptions } from './page-options.ts';
import { startEgressProxy } from './proxy/proxy.ts';
import {
  OVERLAY,
  type PageReply,
  type PageRequest,
  TEXT_LAYER,
  TEXT_OPTIONS,
  type TextOption,
} from './request.ts';
import { createUnpacker, openUploadedPage } from './upload.ts';

/** The files of a page in the conversion's directory, and what the browser reported about it. */
interface PageResult extends Omit<PageReply, 'hasOverlay' | 'hasText'> {
  readonly path: string;
  /** PDFs to be drawn over the page, in this order. */
  readonly overlays: readonly string[];
}

/**
 * Warm browsers of one tool. Each serves one page at a time, one account, and reaches the network only through the conversion's
 * proxy.
 */
interface BrowserPool<Options extends PageOptions> {
  run(conversion: Conversion<Options, URL>): Promise<PageResult>;
  warm(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the network of an uploaded page, which may be private, so that its scripts must not send it anywhere. */
function networkOfUpload(egress: EgressGuard, hosts: readonly string[] = []): EgressGuard {
  return {
    ...egress,
    check: async (url, context) => {
      if (hosts.includes(new URL(url).host)) return egress.check(url, context);
      const message = 'An uploaded page reaches the network only with --enable-network.';
      throw new ConversionError('BLOCKED_ADDRESS', message);
    },
  };
}

/** Maximum bytes of a downloaded style sheet, header or footer. */
const TEXT_BYTES = 1_000_000;

/** Creates the browser pool of a tool. `script` runs in each worker. */
export function createBrowserPool<Options extends PageOptions>(
  dependencies: EngineDependencies,
  script: string,
): BrowserPool<Options> {
  const { layers, egress, download, sandbox = 'required' } = dependencies;
  const command = (): WorkerCommand => ({
    command: process.execPath,
    args: ['--max-old-space-size=512', script, layers, sandbox],
    environment: nodeEnvironment(),
  });
  const limits = { requests: 400, cost: 165, memory: 700, cancellable: true };
  const client = new WorkerPool(command, { ...dependencies, ...limits });
  const { unpack, close } = createUnpacker(dependencies);

  async function run(conversion: Conversion<Options, URL>): Promise<PageResult> {
    const { format, directory, limits, account, onQueued, files } = conversion;
    const uploaded = files && (await openUploadedPage(files, conversion, { download, unpack }));
    const source = uploaded?.url ?? conversion.source;
    const served = uploaded && { host: source.host, files: uploaded.files };
    const checked = uploaded ? [] : [await egress.check(source, conversion)];
    const options = withCredentials(conversion.options, source);
    const { hosts, ...texts } = await readTexts(conversion);
    const inputs = Object.values(texts.textFiles);
    const isPrivate = uploaded !== undefined && !options.network;
    const start = (network: EgressGuard) =>
      startEgressProxy(network, { bytes: 5 * limits.sourceBytes }, checked, account, served);
    const proxy = await start(isPrivate ? networkOfUpload(egress) : egress);
    const textProxy = isPrivate && hosts.length > 0 ? await start(networkOfUpload(egress, hosts)) : proxy;
    const request: PageRequest<Options> = {
      url: withoutCredentials(source),
      ...texts,
      options,
      format,
      limits,
      proxyPort: proxy.port,
      textProxyPort: textProxy.port,
    };
    try {
      const page = `page.${format}`;
      const work = { operation: 'page', arguments: request, inputs, outputs: [page, OVERLAY, TEXT_LAYER] };
      const { hasOverlay, hasText, ...reply } = await withAnySignal(
        [conversion.signal, proxy.exceeded, textProxy.exceeded],
        (signal) =>
          client.run<PageReply>(work, { account, signal, directory, ...(onQueued && { onQueued }) }),
      );
      const layers = [...(hasText ? [TEXT_LAYER] : []), ...(hasOverlay ? [OVERLAY] : [])];
      return {
        ...reply,
        path: join(directory, page),
        overlays: layers.map((name) => join(directory, name)),
      };
    } catch (error) {
      // The browser only knows that its proxy refused the request, not why.
      const failed = error instanceof ConversionError ? error.detailsOf(error.code).url : undefined;
      throw (failed === undefined ? undefined : proxy.failureOf(failed)) ?? error;
    } finally {
      await Promise.all([proxy.close(), textProxy.close()]);
    }
  }

  /** Returns the options whose value is text, and downloads those that are URLs of a text. Returns the hosts of those URLs, too. */
  async function readTexts(conversion: Conversion<Options, URL>) {
    const { directory, signal, account } = conversion;
    const options: Readonly<Partial<Record<TextOption, string | undefined>>> = conversion.options;
    const texts: Partial<Record<TextOption, string>> = {};
    const textFiles: Partial<Record<TextOption, string>> = {};
    const hosts: string[] = [];
    for (const [option, name] of Object.entries(TEXT_OPTIONS) as [TextOption, string][]) {
      const value = options[option];
      if (value === undefined) continue;
      if (!/^https?:\/\//i.test(value)) {
        texts[option] = value;
        continue;
      }
      const limits = { sourceBytes: TEXT_BYTES };
      const { path } = await download(value, { directory, limits, signal, account }).catch(
        (error: unknown) => {
          throw ofOption(error, `The file for '${name}'`, name);
        },
      );
      // Resources of a header are relative to its own URL. That of a sent file is internal.
      const isSent = conversion.sent?.includes(value) === true;
      if (!isSent) hosts.push(new URL(value).host);
      if (option !== 'styleSheet')
        texts[option] =
          `<base href="${isSent ? 'about:blank' : new URL(value).href.replaceAll('"', '%22')}">`;
      textFiles[option] = `text-${option}`;
      await rename(path, join(directory, textFiles[option]));
    }
    return { texts, textFiles, hosts };
  }

  return {
    run,
    warm: () => client.warm(),
    close: async () => {
      await Promise.all([client.close(), close()]);
    },
  };
}

/** Returns the options with the credentials of the URL, unless the options contain credentials. */
function withCredentials<Options extends PageOptions>(
  options: Options,
  { username, password }: URL,
): Options {
  if (!username && !password) return options;
  return {
    ...options,
    username: options.username ?? readCredential(username),
    password: options.password ?? readCredential(password),
  };
}

function readCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new ConversionError(
      'BAD_ADDRESS',
      'The user name or password in the URL is not percent-encoded correctly.',
      {
        cause,
      },
    );
  }
}

function withoutCredentials(withCredentials: URL): string {
  const url = new URL(withCredentials.href);
  url.username = '';
  url.password = '';
  return url.href;
}
