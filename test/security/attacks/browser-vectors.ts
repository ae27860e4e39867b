/** A page that tries to reach a URL in one particular way. */
export interface Vector {
  readonly name: string;
  /** The page; `url` is an http URL, `host` its host and port. */
  page(url: string, host: string): string;
  /** Headers of the page. */
  headers?(url: string): Readonly<Record<string, string>>;
  /** Responds with a redirect instead. */
  readonly redirects?: true;
  /**
   * Cannot be observed over plain HTTP if it is not blocked: it uses UDP or TLS, needs a user, or is disabled in this
   * browser.
   */
  readonly unseen?: true;
  /** Works only on a page with a secure origin, such as loopback. */
  readonly secure?: true;
}

const body = (html: string) => `<!doctype html><title>x</title><body><p>A page</p>${html}`;
const style = (css: (url: string) => string) => (url: string) =>
  body(`<style>${css(url)}</style><div id=d class=d>text</div>`);
const script = (code: (url: string, host: string) => string) => (url: string, host: string) =>
  body(`<script>try{${code(url, host)}}catch(e){document.body.append(String(e))}</script>`);
const inWorker = (code: string) =>
  `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}],{type:'text/javascript'})))`;
const svg = (inner: string) =>
  body(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width=99 height=99>${inner}</svg>`,
  );

const socket = (url: string) => url.replace('http:', 'ws:');

const MARKUP: Readonly<Record<string, (url: string, host: string) => string>> = {
  img: (url) => body(`<img src="${url}">`),
  'img srcset': (url) => body(`<img srcset="${url} 1x, ${url}?2 2x">`),
  'img lazy': (url) =>
    body(`<div style="height:5000px"></div><img loading=lazy width=9 height=9 src="${url}">`),
  picture: (url) => body(`<picture><source srcset="${url}"><img></picture>`),
  'input image': (url) => body(`<input type=image src="${url}">`),
  'body background': (url) => `<body background="${url}">text`,
  iframe: (url) => body(`<iframe src="${url}"></iframe>`),
  'iframe srcdoc': (url) => body(`<iframe srcdoc="<img src='${url}'>"></iframe>`),
  'iframe data': (url) => body(`<iframe src="data:text/html,<img src='${url}'>"></iframe>`),
  frameset: (url) => `<frameset><frame src="${url}"></frameset>`,
  object: (url) => body(`<object data="${url}" type="text/html"></object>`),
  embed: (url) => body(`<embed src="${url}" type="text/html">`),
  video: (url) => body(`<video src="${url}" preload=auto autoplay></video>`),
  'video poster': (url) => body(`<video poster="${url}"></video>`),
  audio: (url) => body(`<audio src="${url}" preload=auto autoplay></audio>`),
  'media source': (url) => body(`<video preload=auto><source src="${url}" type="video/mp4"></video>`),
  script: (url) => body(`<script src="${url}"></script>`),
  'module script': (url) => body(`<script type=module src="${url}"></script>`),
  'import map': (url) =>
    `<script type=importmap>{"imports":{"x":"${url}"}}</script><script type=module>import 'x'</script>`,
  stylesheet: (url) => `<link rel=stylesheet href="${url}"><p>text`,
  preload: (url) => `<link rel=preload as=image href="${url}"><p>text`,
  modulepreload: (url) => `<link rel=modulepreload href="${url}"><p>text`,
  'meta refresh': (url) => `<meta http-equiv=refresh content="0;url=${url}"><p>text`,
  'svg image': (url) => svg(`<image href="${url}" width=9 height=9 />`),
  'svg xlink image': (url) => svg(`<image xlink:href="${url}" width=9 height=9 />`),
  'svg feImage': (url) =>
    svg(`<filter id=f><feImage href="${url}"/></filter><rect width=9 height=9 filter="url(#f)"/>`),
  'svg script': (url) => svg(`<script href="${url}"></script>`),
  'svg style': (url) => svg(`<style>@import "${url}";</style><text>t</text>`),
  'svg foreign object': (url) =>
    svg(
      `<foreignObject width=9 height=9><iframe xmlns="http://www.w3.org/1999/xhtml" src="${url}"/></foreignObject>`,
    ),
  'form, sent by itself': (url) =>
    body(
      `<form action="${url}" method=post><input name=a></form><script>document.forms[0].submit()</script>`,
    ),
  'form into a frame': (url) =>
    body(
      `<iframe name=f></iframe><form action="${url}" target=f></form><script>document.forms[0].submit()</script>`,
    ),
  'link, clicked': (url) => body(`<a id=a href="${url}">a</a><script>a.click()</script>`),
};

const STYLES: Readonly<Record<string, (url: string) => string>> = {
  'css background': (url) => `.d{background:url("${url}")}`,
  'css import': (url) => `@import url("${url}");`,
  'css font': (url) => `@font-face{font-family:f;src:url("${url}")}.d{font-family:f}`,
  'css list': (url) => `.d{display:list-item;list-style-image:url("${url}")}`,
  'css border': (url) => `.d{border:9px solid;border-image:url("${url}") 3}`,
  'css mask': (url) => `.d{mask-image:url("${url}")}`,
  'css content': (url) => `.d::before{content:url("${url}")}`,
  'css image set': (url) => `.d{background:image-set("${url}" 1x)}`,
  'css shape': (url) => `.d{float:left;shape-outside:url("${url}")}`,
  'css by attribute': (url) => `.d[id^=d]{background:url("${url}?leak")}`,
};

const SCRIPTS: Readonly<Record<string, (url: string, host: string) => string>> = {
  fetch: (url) => `fetch("${url}",{mode:'no-cors'})`,
  'fetch, read': (url) => `fetch("${url}").then(r=>r.text()).then(t=>document.body.append(t))`,
  'fetch keepalive': (url) => `fetch("${url}",{keepalive:true,mode:'no-cors',method:'POST',body:'x'})`,
  xhr: (url) => `x=new XMLHttpRequest();x.open('GET',"${url}");x.send()`,
  'xhr, blocking': (url) =>
    `x=new XMLHttpRequest();x.open('GET',"${url}",false);x.send();document.body.append(x.responseText)`,
  'event source': (url) => `new EventSource("${url}")`,
  'web socket': (url) => `new WebSocket("${socket(url)}")`,
  'web socket in a worker': (url) => inWorker(`new WebSocket("${socket(url)}")`),
  'fetch in a worker': (url) => inWorker(`fetch("${url}",{mode:'no-cors'})`),
  'script of a worker': (url) => inWorker(`importScripts("${url}")`),
  worklet: (url) => `CSS.paintWorklet.addModule("${url}")`,
  beacon: (url) => `navigator.sendBeacon("${url}","x")`,
  'dynamic import': (url) => `import("${url}")`,
  'new image': (url) => `new Image().src="${url}"`,
  'new audio': (url) => `new Audio("${url}").play()`,
  'font face': (url) => `new FontFace('f','url("${url}")').load()`,
  'js redirect': (url) => `location="${url}"`,
  'js redirect, late': (url) => `setTimeout(()=>location.replace("${url}"),300)`,
  'js redirect in a frame': (url) =>
    `f=document.createElement('iframe');document.body.append(f);f.contentWindow.location="${url}"`,
  'document write': (url) => `document.write('<img src="${url}">')`,
  'canvas pattern': (url) => `i=new Image();i.crossOrigin='anonymous';i.src="${url}"`,
  'style sheet made by script': (url) =>
    `s=document.createElement('style');s.textContent='@import "${url}"';document.head.append(s)`,
};

/** Vectors that cannot be observed over plain HTTP. They must not send a datagram or open a connection either. */
const UNSEEN: Readonly<Record<string, (url: string, host: string) => string>> = {
  icon: (url) => `<link rel=icon href="${url}"><p>text`,
  'meta refresh, late': (url) => `<meta http-equiv=refresh content="1;url=${url}"><p>text`,
  'css filter': style((url) => `.d{filter:url("${url}#f")}`),
  prefetch: (url) => `<link rel=prefetch href="${url}"><p>text`,
  preconnect: (url) => `<link rel=preconnect href="${url}"><p>text`,
  'dns prefetch': (url) => `<link rel=dns-prefetch href="${url}"><p>text`,
  prerender: (url) =>
    `<script type=speculationrules>{"prerender":[{"urls":["${url}"]}],"prefetch":[{"urls":["${url}"]}]}</script>`,
  manifest: (url) => `<link rel=manifest href="${url}"><p>text`,
  'video track': (url) => body(`<video><track default kind=captions src="${url}"></video>`),
  'svg use': (url) => svg(`<use href="${url}#x"/>`),
  'https image': (_url, host) => body(`<img src="https://${host}/x">`),
  'ftp image': (_url, host) => body(`<img src="ftp://${host}/x">`),
  'file image and frame': () =>
    body('<img src="file:///etc/passwd"><iframe src="file:///etc/passwd"></iframe>'),
  'window open': script((url) => `window.open("${url}")`),
  // Sent while the page unloads, sometimes too late for its proxy.
  'beacon at the end': script(
    (url) =>
      `addEventListener('pagehide',()=>navigator.sendBeacon("${url}","x"));location.replace('about:blank')`,
  ),
  'link ping': (url) => body(`<a id=a href="#x" ping="${url}">a</a><script>a.click()</script>`),
  'shared worker': script((url) => `new SharedWorker(URL.createObjectURL(new Blob(['fetch("${url}")'])))`),
  'service worker': script(() => `navigator.serviceWorker.register('/service-worker.js')`),
  'secure web socket': script((_url, host) => `new WebSocket("wss://${host}/ws")`),
  'web socket stream': script((_url, host) => `new WebSocketStream("ws://${host}/ws")`),
  'web transport': script((_url, host) => `new WebTransport("https://${host}/wt").ready.catch(()=>{})`),
  'webrtc stun': script((_url, host) => rtc(`stun:${host}`)),
  'webrtc turn': script((_url, host) => rtc(`turn:${host}?transport=udp`)),
  'webrtc turn over tcp': script((_url, host) => rtc(`turn:${host}?transport=tcp`)),
  'webrtc to itself': script(() => `(${LOOPED_RTC})()`),
  'fetch later': script((url) => `fetchLater("${url}",{activateAfter:0})`),
  'background fetch': script(
    (url) => `navigator.serviceWorker.ready.then(r=>r.backgroundFetch.fetch('x',"${url}"))`,
  ),
};

const rtc = (server: string) =>
  `p=new RTCPeerConnection({iceServers:[{urls:"${server}",username:'u',credential:'c'}]});p.createDataChannel('x');` +
  `p.createOffer().then(o=>p.setLocalDescription(o));p.onicecandidate=e=>document.body.append(e.candidate&&e.candidate.candidate)`;

const LOOPED_RTC = `async () => { const a = new RTCPeerConnection(), b = new RTCPeerConnection();
  a.onicecandidate = e => b.addIceCandidate(e.candidate); b.onicecandidate = e => a.addIceCandidate(e.candidate);
  a.createDataChannel('x').onopen = () => document.body.append('open');
  await a.setLocalDescription(await a.createOffer()); await b.setRemoteDescription(a.localDescription);
  await b.setLocalDescription(await b.createAnswer()); await a.setRemoteDescription(b.localDescription); }`;

const named = (pages: Readonly<Record<string, Vector['page']>>) =>
  Object.entries(pages).map(([name, page]) => ({ name, page }));

/** Every known way in which a page can make a browser request a URL. */
export const VECTORS: readonly Vector[] = [
  ...named(MARKUP),
  ...Object.entries(STYLES).map(([name, css]) => ({ name, page: style(css) })),
  ...Object.entries(SCRIPTS).map(([name, code]) => ({
    name,
    page: script(code),
    ...(name === 'worklet' && { secure: true as const }),
  })),
  ...named(UNSEEN).map(({ name, page }) => ({
    name,
    // Some vectors take a while, so the page waits for an image.
    page: (url: string, host: string) => `${page(url, host)}<img src="/held">`,
    unseen: true as const,
  })),
  { name: 'http redirect', page: () => '', redirects: true },
  {
    name: 'link header',
    page: () => body(''),
    headers: (url) => ({ link: `<${url}>; rel=preload; as=image` }),
  },
  { name: 'refresh header', page: () => body(''), headers: (url) => ({ refresh: `0; url=${url}` }) },
  {
    name: 'report of a policy',
    page: () => body('<img src="/refused-by-policy">'),
    headers: (url) => ({ 'content-security-policy': `img-src 'none'; report-uri ${url}` }),
    unseen: true,
  },
];
