/** What the browser is told of the machine it runs on. */
export interface FlagOptions {
  /** Directory of its own, for its profile. */
  readonly profile: string;
  /** Its own sandbox: needs an ordinary user and a kernel that allows user namespaces. */
  readonly sandbox: boolean;
  /** Whether pages' processes are forked from one that has all loaded, which takes 10 ms less CPU than a start each. */
  readonly zygote: boolean;
}

/** Features that would call home, keep state or start processes that a conversion never needs. */
const DISABLED_FEATURES = [
  // Asks for hints about pages, and for translations of them.
  'OptimizationHints',
  'Translate',
  // Would look for Cast devices in the local network.
  'MediaRouter',
  'DialMediaRouteProvider',
  // Restores pages from memory: a page of ours is visited once.
  'BackForwardCache',
  // Answers https for an http address: the caller named http.
  'HttpsUpgrades',
  // An audio process, for pages nobody listens to.
  'AudioServiceOutOfProcess',
  // A process per site: all frames of a page are one conversion's, and one process is what we wait for and watch.
  'IsolateOrigins',
  'site-per-process',
];

/** The engine's real name for pages that serve by it, without the word that has many servers refuse; and ours. */
export const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36 docmill/0.1';

/**
 * The whole command line: nothing is taken over from the package's or puppeteer's defaults, of which
 * `--disable-web-security` and `--allow-running-insecure-content` would let a page read what is not its own.
 */
export function chromiumFlags({ profile, sandbox, zygote }: FlagOptions): readonly string[] {
  return [
    '--headless',
    // Driven over two pipes: a debugging port would be an open door on loopback.
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    // As root, or in a function's micro-VM, there are no user namespaces to build the sandbox of.
    ...(sandbox ? [] : ['--no-sandbox']),
    ...(zygote ? [] : ['--no-zygote']),
    ...NETWORK,
    ...QUIET,
    ...RENDERING,
    ...BOUNDS,
    `--user-agent=${USER_AGENT}`,
    // Else `navigator.language` is made of LANG: `en-US@posix`, which is not a language tag, and kills scripts that use it.
    '--lang=en-US',
    '--accept-lang=en-US,en',
    '--disable-site-isolation-trials',
    // A cookie that the caller gave for one origin is not for another port of its host.
    '--enable-features=EnablePortBoundCookies',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
}

/** The only way out is a proxy on loopback, set for each browser context; these flags hold only together, as measured with test/security. */
const NETWORK = [
  // For whatever belongs to no context: the discard port, where nothing listens and the guard is not asked.
  '--proxy-server=http://127.0.0.1:9',
  // Without it requests to loopback and link-local addresses go past the proxy.
  '--proxy-bypass-list=<-loopback>',
  // WebRTC speaks UDP past any proxy; each flavour of Chromium reads another one of these two.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  // Nothing is resolved here: the proxy does that, once.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--no-pings',
  '--dns-prefetch-disable',
];

/** Chromium's own calls home, and what it would ask or remember. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-sync',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--metrics-recording-only',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
  '--deny-permission-prompts',
];

const RENDERING = [
  // There is no GPU. Pages are drawn by the processor, WebGL by SwiftShader, which starts when a page asks for it.
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-gpu-compositing',
  '--disable-gpu-rasterization',
  // One process less; what it would do is not done at all.
  '--in-process-gpu',
  // Lambda and containers have a tiny /dev/shm, or none; then tabs crash.
  '--disable-dev-shm-usage',
  // Frames come when `frames.ts` says so, each complete.
  '--enable-begin-frame-control',
  '--run-all-compositor-stages-before-draw',
  // Else a large image with `decoding="async"` is left out of the first frame, which is the only one that is drawn.
  '--disable-checker-imaging',
  // By two threads whatever the cores, and in larger pieces: a tenth of a picture's time.
  '--num-raster-threads=2',
  '--default-tile-width=512',
  '--default-tile-height=512',
  '--hide-scrollbars',
  // What lies outside the window can be shown, too.
  '--blink-settings=mainFrameClipsContent=false',
  '--mute-audio',
  // Hinting moves glyphs by whole pixels, in a PDF too (puppeteer/puppeteer#2410).
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
  // A page in no window counts as hidden, and its timers would be slowed.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-ipc-flooding-protection',
];

const BOUNDS = [
  // Popups fail, whichever way they are opened.
  '--block-new-web-contents',
  '--disk-cache-size=33554432',
  // One renderer may take this many MiB of JavaScript heap.
  '--js-flags=--max-old-space-size=1024',
];
