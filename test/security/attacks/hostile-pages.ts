import type { ServerResponse } from 'node:http';
import { crc32, deflateSync, gzipSync } from 'node:zlib';

/** A page: its markup, or a function that responds. */
export type HostilePage = string | ((response: ServerResponse) => void);

const script = (code: string) => `<!doctype html><body>text<script>${code}</script>`;
const html = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' });

/** Sends a piece repeatedly, as fast as it is read, and never ends. */
const endless = (type: string, head: string, piece: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': type });
  response.write(head);
  const more = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
};

/** An image of a single color with 900 million pixels in a megabyte. */
function hugePng(): Buffer {
  const chunk = (type: string, content: Buffer) => {
    const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), content, Buffer.alloc(4)]);
    whole.writeUInt32BE(content.length, 0);
    whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4);
    return whole;
  };
  const head = Buffer.from([0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 1, 0, 0, 0, 0]);
  const pixels = deflateSync(Buffer.alloc(30_000 * 3751), { level: 9 });
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Pages that try to hang, to exhaust memory, to contact other hosts, or to navigate elsewhere. */
export const HOSTILE_PAGES: Readonly<Record<string, HostilePage>> = {
  'endless loop': script('for(;;);'),
  'endless loop after load': script('onload=()=>{for(;;);}'),
  'endless microtasks': script('const f=()=>Promise.resolve().then(f);f()'),
  'endless timers': script('setInterval(()=>{for(let i=0;i<1e4;i++)setTimeout(()=>{})},0)'),
  'endless frames': script(
    'const f=()=>{requestAnimationFrame(f);for(let e=performance.now()+20;performance.now()<e;);};f()',
  ),
  'endless growth': script('setInterval(()=>document.body.append("x".repeat(1e5)),0)'),
  'endless writing': script('const f=()=>{document.write("<p>x");setTimeout(f)};f()'),
  alerts: script('for(;;)alert(1)'),
  'confirms and prompts': script('for(let i=0;i<1e5;i++){confirm(1);prompt(1)}'),
  'print dialogs': script('for(let i=0;i<100;i++)print()'),
  'before unload': script('onbeforeunload=e=>{e.preventDefault();return "stay"};location="/plain"'),
  popups: script('for(let i=0;i<500;i++)open("/plain","_blank")'),
  'popups by clicks':
    '<body>text<a id=a target=_blank href=/plain>a</a><script>for(let i=0;i<500;i++)a.click()</script>',
  downloads: '<body>text<a id=a download href=/endless>a</a><script>for(let i=0;i<50;i++)a.click()</script>',
  'a download itself': (response) => {
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-disposition': 'attachment; filename=x.html',
    });
    response.end('x');
  },
  debugger: script('for(;;)debugger'),
  'closes itself': script('close();window.open("","_self").close()'),
  'endless markup': endless('text/html', '<!doctype html><body>', '<p>more and more</p>'.repeat(500)),
  'endless picture': '<body>text<img src=/endless>',
  'endless parts': endless(
    'multipart/x-mixed-replace; boundary=x',
    '--x\r\n',
    'Content-Type: text/html\r\n\r\n<p>part</p>\r\n--x\r\n',
  ),
  'style sheet that never comes': '<link rel=stylesheet href=/silent><p>text',
  'script that never comes': '<script src=/silent></script><p>text',
  'font that never comes': '<style>@font-face{font-family:f;src:url(/silent)}p{font-family:f}</style><p>text',
  'picture that never comes': '<img src=/silent><p>text',
  'frame that never comes': '<iframe src=/silent></iframe><p>text',
  'request that never ends': script('x=new XMLHttpRequest();x.open("GET","/silent",false);x.send()'),
  'document that never comes': () => {},
  'moves on forever': '<meta http-equiv=refresh content="0;url=?again"><p>text',
  'reloads forever': script('location.reload()'),
  'history forever': script('for(let i=0;;i++)history.pushState(0,"","?"+i)'),
  'frames in frames': '<p>text<iframe src="?deeper"></iframe><iframe src="?and-deeper"></iframe>',
  'thousands of frames': script(
    'for(let i=0;i<3000;i++)document.body.append(document.createElement("iframe"))',
  ),
  'workers that make workers': script(
    'const s="for(;;)new Worker(URL.createObjectURL(new Blob([name])),{name})";for(let i=0;i<50;i++)new Worker(URL.createObjectURL(new Blob([s])),{name:s})',
  ),
  'thousands of requests': script('for(let i=0;i<20000;i++)fetch("/plain?"+i)'),
  'thousands of sockets': script('for(let i=0;i<5000;i++)new WebSocket("ws://"+location.host+"/"+i)'),
  'fills the heap': script('const a=[];for(;;)a.push(new Array(1e6).fill(Math.random()))'),
  'fills memory': script('const a=[];for(;;)a.push(new Uint8Array(1e8).fill(1))'),
  'fills strings': script('let s="x";for(;;)s+=s+Math.random()'),
  'a million elements': script('document.body.innerHTML="<b>x</b>".repeat(1e6)'),
  'elements in elements': `<body>${'<div>'.repeat(50_000)}text`,
  'inline elements in elements': `<body>${'<b><i>'.repeat(30_000)}text`,
  'endlessly tall': '<body><div style="height:1e9px;background:red">text</div>',
  'endlessly wide': '<body><div style="width:1e9px;height:9px;background:red">text</div>',
  'a hundred thousand pages': script('document.body.innerHTML="<p style=break-after:page>x</p>".repeat(1e5)'),
  'paper of a kilometer': '<style>@page{size:1000000mm 1000000mm}</style><p>text',
  'canvases without end': script(
    'for(;;){const c=document.createElement("canvas");c.width=c.height=16000;c.getContext("2d").fillRect(0,0,16000,16000);document.body.append(c)}',
  ),
  'picture of a billion pixels': '<body>text<img src=/huge.png width=100 height=100>',
  'filters on filters': `<body><svg width=4000 height=4000><filter id=f>${'<feTurbulence numOctaves=99 /><feGaussianBlur stdDeviation=500 />'.repeat(30)}</filter><rect width=4000 height=4000 filter="url(#f)"/></svg>`,
  'a billion uses': `<body><svg xmlns="http://www.w3.org/2000/svg"><g id=a0><rect width=1 height=1 /></g>${Array.from({ length: 12 }, (_, level) => `<g id=a${level + 1}>${`<use href="#a${level}"/>`.repeat(10)}</g>`).join('')}</svg>`,
  'a billion variables': `<style>:root{--a0:xxxxxxxxxx;${Array.from({ length: 30 }, (_, level) => `--a${level + 1}:${`var(--a${level})`.repeat(10)}`).join(';')}}p::before{content:var(--a30)}</style><p>text`,
  'a billion entities': (response) => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `<!ENTITY a${level + 1} "${`&a${level};`.repeat(10)}">`,
    );
    response.writeHead(200, { 'content-type': 'application/xhtml+xml' });
    response.end(
      `<!DOCTYPE html [<!ENTITY a0 "x">${levels.join('')}]><html xmlns="http://www.w3.org/1999/xhtml"><body>&a12;</body></html>`,
    );
  },
  'a grid of millions':
    '<style>body{display:grid;grid-template:repeat(10000000,1px)/repeat(10000000,1px)}</style><p>text',
  'a table of millions': `<table>${`<tr>${'<td rowspan=65534 colspan=1000>x'.repeat(50)}`.repeat(50)}</table>`,
  'a pattern that never ends': script('/^(a+)+$/.test("a".repeat(50)+"!")'),
  'asks for everything': script(
    'navigator.geolocation.getCurrentPosition(()=>{});Notification.requestPermission();navigator.mediaDevices.getUserMedia({video:true,audio:true});document.body.requestFullscreen();navigator.clipboard.readText()',
  ),
  'lies about everything': script(
    'for(const o of [Object,Array,Promise,Document,Element,Window,JSON,Math,Function])for(const k of Object.getOwnPropertyNames(o.prototype||o))try{(o.prototype||o)[k]=()=>{throw 1}}catch{}',
  ),
  'nothing left': script(
    'document.documentElement.remove();Object.defineProperty(window,"document",{get(){throw 1}})',
  ),
  'crashes the browser, if it can': script('location="chrome://crash"'),
  'reads the machine':
    '<iframe src="file:///etc/passwd"></iframe><iframe src="chrome://version"></iframe><embed src="view-source:file:///etc/passwd"><p>text',
  'a gzip bomb': (response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
    const piece = gzipSync(Buffer.alloc(50_000_000, '<p>x'));
    for (let time = 0; time < 20; time++) response.write(piece);
    response.end();
  },
  'bytes that are no page': (response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.end(Buffer.alloc(100_000, 0xfe));
  },
  'no title, no end': (response) => html(response).end('<'),
};

/** Resources of the pages above. */
export const HELPERS: Readonly<Record<string, HostilePage>> = {
  '/plain': '<!doctype html><p>plain',
  '/silent': () => {},
  '/endless': endless('application/octet-stream', '', 'x'.repeat(65_536)),
  '/huge.png': (response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(hugePng());
  },
};
