import { PRODUCT } from '../../../shared/product.ts';

/** The facts that the command line depends on. */
export interface FlagOptions {
  /** Private directory for the browser's profile. */
  readonly profile: string;
  /** Whether to use Chromium's own sandbox, which needs an ordinary user and user namespaces. */
  readonly sandbox: boolean;
  /**
   * How renderers start: forked from a preloaded process (saves 10 ms of CPU each), as new processes, or as threads
   * of the browser.
   */
  readonly processes: 'forked' | 'started' | 'none';
  /** Whether pages are printed. */
  readonly prints?: boolean | undefined;
}

/** Features that send requests, keep state or start processes, none of which a conversion needs. */
const DISABLED_FEATURES = [
  // Requests hints about pages and translations.
  'OptimizationHints',
  'Translate',
  // Search the local network for Cast devices.
  'MediaRouter',
  'DialMediaRouteProvider',
  // Keeps pages in memory. Each page is visited once.
  'BackForwardCache',
  // Replaces http with https, but the caller asked for http.
  'HttpsUpgrades',
  // Starts an audio process.
  'AudioServiceOutOfProcess',
  // Start a process per site. All frames of a page belong to one conversion, and one process is easier to monitor.
  'IsolateOrigins',
  'site-per-process',
];

/** Major version of the browser in the `chromium` layer. */
export const CHROMIUM_VERSION = '153';

/**
 * Chrome's own `User-Agent`, because pages depend on it, without the word `Headless`, which many servers reject, plus the
 * service's name.
 */
export const USER_AGENT = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${CHROMIUM_VERSION}.0.0.0 Safari/537.36 ${PRODUCT}`;

/**
 * Returns the whole command line. It takes nothing from the defaults of the package or of puppeteer, which include
 * `--disable-web-security` and `--allow-running-insecure-content`: with them, a page could read content of other origins.
 */
export function chromiumFlags({
  profile,
  sandbox,
  processes,
  prints = false,
}: FlagOptions): readonly string[] {
  return [
    '--headless',
    // Controlled through pipes. A debugging port could be reached from loopback.
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    // As root and on Lambda the sandbox is not available.
    ...(sandbox ? [] : ['--no-sandbox']),
    ...(processes === 'forked' ? [] : ['--no-zygote']),
    ...(processes === 'none' ? ['--single-process'] : []),
    ...NETWORK,
    ...QUIET,
    ...RENDERING,
    // Faster, but a PDF would not contain what WebGL has drawn.
    ...(prints ? [] : ['--disable-gpu-compositing']),
    ...BOUNDS,
    `--user-agent=${USER_AGENT}`,
    // Otherwise `navigator.language` is derived from LANG: `en-US@posix`, on which `Intl` throws.
    '--lang=en-US',
    '--accept-lang=en-US,en',
    '--disable-site-isolation-trials',
    // Keeps a cookie of the caller from being sent to other ports of the same host.
    '--enable-features=EnablePortBoundCookies',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
}

/**
 * Flags that make the loopback proxy of each browser context its only way to the network. All of them are needed (see
 * test/security).
 */
const NETWORK = [
  // Sends requests outside of all contexts to the discard port, on which nothing listens.
  '--proxy-server=http://127.0.0.1:9',
  // Without it, requests to loopback and link-local addresses bypass the proxy.
  '--proxy-bypass-list=<-loopback>',
  // WebRTC over UDP bypasses every proxy. Each flavor of Chromium reads a different one of these two.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  // Only the proxy resolves names.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--no-pings',
  '--dns-prefetch-disable',
];

/** Flags that turn off background requests, prompts and stored state. */
const QUIET = (
  '--disable-background-networking --disable-component-update --disable-default-apps ' +
  '--disable-domain-reliability --disable-client-side-phishing-detection --disable-breakpad ' +
  '--disable-crash-reporter --disable-sync --disable-extensions --disable-field-trial-config ' +
  '--metrics-recording-only --no-first-run --no-default-browser-check --no-service-autorun ' +
  '--password-store=basic --use-mock-keychain --deny-permission-prompts'
).split(' ');

const BLINK_SETTINGS = {
  // Allows capturing what is outside the window.
  mainFrameClipsContent: false,
  // Loads images and frames with `loading=lazy` that are not in view.
  lazyLoadEnabled: false,
  // Simulates a mouse, as on a desktop, although no device is connected: `hover: hover` and `pointer: fine`.
  primaryHoverType: 2,
  availableHoverTypes: 2,
  primaryPointerType: 4,
  availablePointerTypes: 4,
};

const RENDERING = [
  // There is no GPU. Pages are drawn by the CPU, WebGL by SwiftShader.
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-gpu-rasterization',
  // Saves a process.
  '--in-process-gpu',
  // Lambda and containers have little or no /dev/shm, without which tabs crash.
  '--disable-dev-shm-usage',
  // `frames.ts` requests each frame, and each is complete.
  '--enable-begin-frame-control',
  '--run-all-compositor-stages-before-draw',
  // Otherwise a large image with `decoding="async"` is missing in the first frame, which is the only drawn one.
  '--disable-checker-imaging',
  // Two threads and larger tiles make a screenshot 10 % faster.
  '--num-raster-threads=2',
  '--default-tile-width=512',
  '--default-tile-height=512',
  '--hide-scrollbars',
  // Worklets draw these animations, and the frame that follows one would never end.
  '--disable-blink-features=CompositeBGColorAnimation,CompositeClipPathAnimation,OffMainThreadCSSPaint',
  // Otherwise `toBlob` and `convertToBlob` wait up to a second for idle time, which may not come while the clock is
  // stopped.
  '--enable-blink-features=NoIdleEncodingForWebTests',
  `--blink-settings=${Object.entries(BLINK_SETTINGS).map(([name, value]) => `${name}=${value}`)}`,
  '--mute-audio',
  // Hinting moves glyphs by whole pixels, even in a PDF (puppeteer/puppeteer#2410).
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
  // Pages without a window count as hidden, which would slow down their timers.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-ipc-flooding-protection',
];

const BOUNDS = [
  // Blocks popups.
  '--block-new-web-contents',
  '--disk-cache-size=33554432',
  // Maximum MiB of JavaScript heap per renderer.
  '--js-flags=--max-old-space-size=1024',
];
