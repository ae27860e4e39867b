import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { usePages } from '../engines/chromium/use-pages.ts';

/** Bands of 1000 px, each with a color that identifies it. */
const band = (index: number) => `rgb(${(index * 37) % 256},${(index * 91) % 256},${(index * 151) % 256})`;
const bands = (count: number) =>
  `<!doctype html><body style="margin:0">${Array.from(
    { length: count },
    (_, index) => `<div style="height:1000px;background:${band(index)}"></div>`,
  ).join('')}`;

const png = async (width: number, height: number, color: string) =>
  sharp({ create: { width, height, channels: 3, background: color } })
    .png()
    .toBuffer();

const green = await png(10, 10, '#00ff00');
const image = (_request: unknown, response: import('node:http').ServerResponse) => {
  response.setHeader('content-type', 'image/png');
  response.end(green);
};
const wide = await png(3000, 3000, '#00ff00');
const large = (_request: unknown, response: import('node:http').ServerResponse) => {
  response.setHeader('content-type', 'image/png');
  response.end(wide);
};
const { picture } = await usePages({
  '/': '<!doctype html><body style="margin:0;background:#ff0000"><p style="margin:0;height:300px">Hello</p>',
  '/quirks': '<body style="margin:0"><div style="height:120px;background:#00f"></div>',
  '/quirks-border':
    '<body style="margin:7px;border:4px solid red;padding:5px"><div style="height:120px;background:#00f"></div>',
  '/shadow': `<!doctype html><div><template shadowrootmode=open><p><template shadowrootmode=open>
      <div style="position:absolute;top:20px;height:100px;width:100px;background:#00f"></div></template></p></template></div>`,
  '/shell':
    '<!doctype html><style>html{height:100%;overflow:hidden}body{height:100%;overflow:auto;margin:0}</style><div style="height:3000px;background:#00f"></div>',
  '/pane': `<!doctype html><style>html, body { height: 100%; margin: 0; overflow: hidden } #app { display: flex; height: 100vh }
      nav { width: 100px; background: #0f0 } main { flex: 1; overflow: auto } p { height: 500px; margin: 0; background: #00f }</style>
      <div id="app"><nav></nav><main>${'<p></p>'.repeat(8)}</main></div>`,
  '/box':
    '<!doctype html><body style="margin:0"><div style="height:400px;overflow:auto"><p style="height:3000px">',
  '/columns': `<!doctype html><style>html{column-count:3}</style>${'<p style="height:40px;margin:0">line</p>'.repeat(90)}`,
  '/tall': bands(40),
  '/taller': bands(70),
  '/viewport':
    '<!doctype html><body style="margin:0"><script>document.body.append(innerWidth+"x"+innerHeight)</script><div id=v style="height:100vh;background:lime"></div>',
  '/element':
    '<!doctype html><body style="margin:0"><div style="height:2000px"></div><div id="box" style="margin-left:50px;width:200px;height:100px;background:#0000ff"></div><div id="none" style="display:none"></div>',
  '/outside':
    '<!doctype html><body style="margin: 0"><div id="box" style="position: absolute; left: -40px; top: -30px; width: 100px; height: 100px; background: #00f"></div>',
  '/inner': `<!doctype html><style>body { margin: 0 } main, section { overflow: auto; height: 100vh } p { height: 3000px; margin: 0 }
      section { height: 200px } #box { width: 200px; height: 100px; background: #00f }</style>
      <main><p></p><section><p></p><div id="box"></div><p></p></section><p></p></main>`,
  '/right-to-left': `<!doctype html><html dir=rtl><style>body { margin: 0; width: 3000px; display: flex } div { height: 100px; flex: auto; background: #0f0 }
      #first, #box { flex: none; width: 100px; background: #00f }</style><div id="first"></div><div></div><div id="box"></div>`,
  '/right-to-left-cut': `<!doctype html><html dir=rtl style="overflow-x:hidden"><body style="margin:0"><div style="height:100px;background:#00f"></div>
      <nav style="position:absolute;left:-300px;top:0;width:300px;height:100px;background:#f00"></nav>`,
  '/upright': `<!doctype html><style>html { writing-mode: vertical-rl } body { margin: 0 } div { width: 3000px; height: 100px; background: #0f0 }
      #first, #box { width: 100px; background: #00f }</style><div id="first"></div><div></div><div id="box"></div>`,
  '/fraction':
    '<!doctype html><div id="box" style="position:absolute;left:10.4px;top:20.4px;width:50.8px;height:30.8px;background:#0000ff"></div>',
  '/clear':
    '<!doctype html><body style="margin:0"><div style="width:100px;height:100px;background:#f00"></div>',
  '/lazy': `<!doctype html><body style="margin:0"><div style="height:6000px"></div>
      <img loading="lazy" src="/green.png?native" style="display:block;width:100px;height:100px">
      <div id="io" style="width:100px;height:100px"></div>
      <script>new IntersectionObserver((all, observer) => { if (!all[0].isIntersecting) return;
        observer.disconnect(); const i = new Image(); i.style.cssText = 'display:block;width:100px;height:100px';
        i.src = '/green.png?observed'; io.append(i); }).observe(io)</script>`,
  '/moving': `<!doctype html><style>
      @keyframes move { from { background: #f00 } to { background: #0f0 } }
      div { width: 100px; height: 100px; background: #f00 }
      .ends { animation: move 1s linear forwards } .never { animation: move 1s linear infinite }</style>
      <body style="margin:0"><div class="ends"></div><div class="never"></div><div id="late"></div>
      <script>late.offsetHeight; late.style.cssText = 'transition: background 1s linear; background: #00f'</script>`,
  '/moves-below': `<!doctype html><style>@keyframes move { to { left: 50px } }
      b { position: absolute; top: 1600px; left: 0; width: 100px; height: 200px; background: #f00; animation: move 20s infinite }
      i { position: fixed; background: #fff; transform-origin: center }</style><b></b><i></i>`,
  '/redrawn': `<!doctype html><body style="margin:0"><nav style="position:fixed;bottom:0;width:100px;height:40px;background:#00f"></nav>
      <canvas id=c width=600 height=300></canvas><p style="height:1500px"></p><script>
      const draw = () => { c.width = 600; setTimeout(() => {
        const context = c.getContext('2d'); context.fillStyle = '#f00'; context.fillRect(0, 0, 600, 300) }, 100) };
      addEventListener('resize', draw); draw()</script>`,
  '/green.png': image,
  '/large.png': large,
  '/async':
    '<!doctype html><body style="margin:0"><img decoding="async" src="/large.png" style="display:block;width:500px">',
  '/window':
    '<!doctype html><body style="margin:0"><div style="height:100vh;background:#f00"></div><div style="height:900px;background:#0f0"></div><div style="position:fixed;bottom:0;width:100%;height:50px;background:#00f"></div>',
  '/attached': `<!doctype html><body style="margin:0"><div style="height:2000px"></div>
      <div style="position:fixed;bottom:-50px;left:0;width:50px;height:50px;background:#00f;translate:0 -50px"></div>
      <div style="position:fixed;top:calc(100vh - 50px);left:50px;width:50px;height:50px;background:#00f"></div>
      <div style="position:absolute;left:100px;top:0;transform:translate(0)"><div style="position:fixed;bottom:-50px;width:50px;height:50px;background:#00f"></div></div>
      <div style="position:fixed;top:700px;left:150px;width:50px;height:50px;background:#00f"></div>
      <div style="float:left"><template shadowrootmode=closed><div style="position:fixed;bottom:0;left:200px;width:50px;height:50px;background:#00f"></div></template></div>
      <footer style="position:sticky;bottom:0;height:50px;background:#0f0"></footer><div style="height:500px"></div>`,
  '/covered': `<!doctype html><body style="margin:0;height:3000px">
      <div style="position:fixed;inset:0;z-index:-1;background:#00f;display:flex;align-items:center">
        <div style="width:100%;height:100px;background:#f00"></div></div>
      <div style="position:sticky;top:0;width:20px;height:100vh;background:#0f0"></div>`,
  '/generated': `<!doctype html><style>
        body { margin: 0; height: 3000px }
        p { margin: 0 }
        body::before { content: ''; position: fixed; inset: 0; z-index: -1; background: #00f }
        p::after { content: ''; position: fixed; bottom: 0; left: 0; width: 20px; height: 50px; background: #0f0 }
      </style><p>`,
  '/modal': `<!doctype html><style>body { margin: 0; height: 3000px } dialog::backdrop { background: #00f }</style>
      <dialog id=d>text</dialog><script>d.showModal()</script>`,
  '/broad':
    '<!doctype html><body style="margin:0"><div style="width:1500px;height:20px;background:#0f0"></div>',
  '/broad-cut':
    '<!doctype html><body style="margin:0;overflow-x:hidden"><div style="width:1500px;height:20px"></div>',
  '/slides-in': `<!doctype html><style>@keyframes slide { from { transform: translateX(400px) } }
      div { height: 20px; background: #0f0; animation: slide 2s both }</style><body style="margin:0"><div></div>`,
  '/slides-in-later': `<!doctype html><style>div { height: 2000px; transform: translateX(400px); transition: transform 1s }
      .shown { transform: none }</style><body style="margin:0"><div id=box></div>
      <script>setTimeout(() => { box.className = 'shown' }, 300)</script>`,
  '/broad-later':
    '<!doctype html><body style="margin:0"><div id=box style="height:20px"></div><script>setTimeout(() => { box.style.width = "1500px" }, 300)</script>',
  '/share':
    '<!doctype html><body style="margin:0"><div style="width:150%;height:20px;background:#0f0"></div>',
  '/webgl':
    '<!doctype html><body style="margin:0"><canvas id=c width=100 height=100></canvas><script>const gl = c.getContext("webgl", { preserveDrawingBuffer: true }); gl.clearColor(0, 1, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT)</script>',
  '/fixed':
    '<!doctype html><body style="margin:0;height:20000px"><div style="position:fixed;top:0;width:100%;height:50px;background:#00f"></div>',
});

describe('the size', () => {
  it('is 1024 pixels wide and as tall as the content', async () => {
    const image = await picture('/');

    expect([image.width, image.height]).toEqual([1024, 300]);
    expect(image.at(1000, 299).slice(0, 3)).toEqual([255, 0, 0]);
  });

  it('is also as tall as the content in quirks mode', async () => {
    const { width, height } = await picture('/quirks');

    expect([width, height]).toEqual([1024, 120]);
    expect((await picture('/quirks-border')).height).toBe(7 + 4 + 5 + 120 + 5 + 4 + 7);
  });

  it('includes shadow trees', async () => {
    expect((await picture('/shadow')).height).toBe(120);
  });

  it('includes all of a pane that an application scrolls instead of the page', async () => {
    expect((await picture('/shell')).height).toBe(3000);

    const { width, height, at } = await picture('/pane');
    expect([width, height]).toEqual([1024, 4000]);
    expect([at(50, 3990), at(200, 3990)].map((pixel) => pixel.slice(0, 3))).toEqual([
      [0, 255, 0],
      [0, 0, 255],
    ]);
  });

  it('is that of the window if the caller names its height', async () => {
    expect((await picture('/pane', { '--height': '700' })).height).toBe(700);
  });

  it('leaves a box alone that scrolls in a page of its own height', async () => {
    expect((await picture('/box')).height).toBe(768);
  });

  it('does not count the columns stacked in one', async () => {
    expect((await picture('/columns')).height).toBeLessThan(1300);
  });

  it('has the given width and height regardless of the content', async () => {
    const short = await picture('/', { '--width': '640', '--height': '480' });
    const long = await picture('/tall', { '--width': '300', '--height': '1500' });

    expect([short.width, short.height]).toEqual([640, 480]);
    expect([long.width, long.height]).toEqual([300, 1500]);
  });

  it('gives the page a window of that size', async () => {
    const image = await picture('/viewport', { '--width': '500', '--height': '400' });

    expect(image.at(250, 399).slice(0, 3)).toEqual([0, 255, 0]);
  });

  it('is multiplied by the zoom', async () => {
    const double = await picture('/', { '--zoom': '2', '--width': '200' });
    const half = await picture('/', { '--zoom': '0.5', '--width': '200' });

    expect([double.width, double.height]).toEqual([400, 600]);
    expect([half.width, half.height]).toEqual([100, 150]);
  });

  it.for([
    ['/tall', 40_000, 'jpg', {}],
    ['/tall', 24_000, 'png', { '--zoom': '0.6' }],
  ] as const)('takes %s whole, %s pixels tall, as %s', async ([path, tall, format, query]) => {
    const image = await picture(path, { '--width': '400', ...query }, format);
    const zoom = '--zoom' in query ? Number(query['--zoom']) : 1;

    expect([image.width, image.height]).toEqual([400 * zoom, tall]);
    const near = (one: number[], other: number[]) =>
      one.every((value, index) => Math.abs(value - other[index]!) <= 6);
    const wrong = Array.from({ length: Math.floor(tall / zoom / 1000) }, (_, index) => index).filter(
      (index) => {
        const wanted = band(index).match(/\d+/g)!.map(Number);
        return ![10, 500, 990].every((row) =>
          near(image.at(100, Math.floor((index * 1000 + row) * zoom)).slice(0, 3), wanted),
        );
      },
    );
    expect(wrong).toEqual([]);
  });

  it('is rejected if a JPEG cannot be that tall', async () => {
    const refused = picture('/taller', { '--width': '100' }, 'jpg');

    await expect(refused).rejects.toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: expect.stringContaining('100x70000'),
    });
    await expect(picture('/tall', { '--width': '100' }, 'webp')).rejects.toMatchObject({
      code: 'RESULT_TOO_LARGE',
    });
    await expect(picture('/tall', { '--width': '3000' }, 'png')).rejects.toMatchObject({
      code: 'RESULT_TOO_LARGE',
    });
  });
});

describe('the picture', () => {
  it('shows one element if a selector is given', async () => {
    const image = await picture('/element', { '--selector': '#box' });

    expect([image.width, image.height]).toEqual([200, 100]);
    for (const [x, y] of [
      [0, 0],
      [199, 99],
    ] as const)
      expect(image.at(x, y).slice(0, 3)).toEqual([0, 0, 255]);
  });

  it('shows the part of an element that is on the page', async () => {
    const image = await picture('/outside', { '--selector': '#box' });

    expect([image.width, image.height]).toEqual([60, 70]);
    expect(image.at(59, 69).slice(0, 3)).toEqual([0, 0, 255]);
  });

  it('shows an element that is scrolled out of view in the elements around it', async () => {
    const image = await picture('/inner', { '--selector': '#box' });

    expect([image.width, image.height]).toEqual([200, 100]);
    expect([image.at(0, 0).slice(0, 3), image.at(199, 99).slice(0, 3)]).toEqual([
      [0, 0, 255],
      [0, 0, 255],
    ]);
  });

  it('starts at the right edge of a page that is read from right to left', async () => {
    const blue = [0, 0, 255];
    for (const [path, options] of [
      ['/right-to-left', { '--width': '600' }],
      ['/upright', { '--width': '600', '--height': '200' }],
    ] as const) {
      const image = await picture(path, options);
      expect(image.at(image.width - 1, 50).slice(0, 3)).toEqual(blue);
      const element = await picture(path, { '--selector': '#box', '--zoom': '1.3' });
      expect([element.width, element.at(2, 50).slice(0, 3)]).toEqual([130, blue]);
    }
    const cut = await picture('/right-to-left-cut', { '--width': '600' });
    expect([cut.width, cut.at(0, 50).slice(0, 3), cut.at(599, 50).slice(0, 3)]).toEqual([600, blue, blue]);
  });

  it('has the pixels of an element whose edges are between pixels', async () => {
    const image = await picture('/fraction', { '--selector': '#box' });

    expect([image.width, image.height]).toEqual([51, 31]);
    expect(image.at(0, 0).slice(0, 3)).toEqual([0, 0, 255]);
    expect(image.at(50, 30).slice(0, 3)).toEqual([0, 0, 255]);
  });

  it('is rejected if no element matches the selector', async () => {
    for (const selector of ['#nothing', '#none', '###', 'p:has(']) {
      const refused = picture('/element', { '--selector': selector });
      await expect(refused).rejects.toMatchObject({
        code: 'BAD_PARAMETER',
        message: expect.stringContaining("'--selector'"),
      });
    }
  });

  it('is cropped in pixels of the image', async () => {
    const crop = { '--crop-x': '40', '--crop-y': '1990', '--crop-w': '20', '-h': '20' };
    const image = await picture('/element', crop);

    expect([image.width, image.height]).toEqual([20, 20]);
    expect([image.at(5, 15).slice(0, 3), image.at(15, 15).slice(0, 3), image.at(15, 5).slice(0, 3)]).toEqual([
      [255, 255, 255],
      [0, 0, 255],
      [255, 255, 255],
    ]);
    await expect(picture('/', { '--crop-x': '5000' })).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('has a transparent background on request', async () => {
    const clear = await picture('/clear', { '--transparent': '' });
    const white = await picture('/clear');

    expect([clear.at(50, 50), clear.at(500, 50)]).toEqual([
      [255, 0, 0, 255],
      [0, 0, 0, 0],
    ]);
    expect(white.at(500, 50).slice(0, 3)).toEqual([255, 255, 255]);
    await expect(picture('/clear', { '--transparent': '' }, 'jpg')).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
    });
  });

  it('has the format of its name, and is smaller at lower quality', async () => {
    const sizes: number[] = [];
    for (const [format, quality] of [
      ['jpg', '60'],
      ['jpg', '20'],
      ['webp', '80'],
      ['png', '94'],
    ] as const) {
      const { path } = await picture('/viewport', { '--quality': quality }, format);
      const meta = await sharp(path).metadata();
      expect(meta.format).toBe(format === 'jpg' ? 'jpeg' : format);
      sizes.push((await stat(path)).size);
    }

    expect(sizes[1]).toBeLessThan(sizes[0]!);
  });

  it('contains images that load when scrolled into view', async () => {
    const image = await picture('/lazy');

    expect(image.height).toBe(6200);
    expect([image.at(50, 6050).slice(0, 3), image.at(50, 6150).slice(0, 3)]).toEqual([
      [0, 255, 0],
      [0, 255, 0],
    ]);
  });

  it('contains large images that are decoded asynchronously', async () => {
    for (const query of [{}, { '-n': '1' }]) {
      const image = await picture('/async', query);

      expect(image.at(100, 100).slice(0, 3)).toEqual([0, 255, 0]);
    }
  });

  it('shows the end of finite animations, and any moment of infinite ones', async () => {
    const { at } = await picture('/moving');

    expect(at(50, 50)).toEqual([0, 255, 0]);
    expect(at(50, 150)[2]).toBe(0);
    expect(at(50, 250)).toEqual([0, 0, 255]);
  });

  it('contains what scripts draw again because something is fixed to the bottom of the window', async () => {
    const image = await picture('/redrawn');

    expect(image.at(300, 150)).toEqual([255, 0, 0]);
    expect(image.at(50, image.height - 20)).toEqual([0, 0, 255]);
  });

  it('contains what moves below the window', async () => {
    expect((await picture('/moves-below')).at(75, 1700)).toEqual([255, 0, 0]);
  });

  it('keeps elements as tall as the window, and moves elements fixed to its bottom to the bottom', async () => {
    const image = await picture('/window', { '--width': '100' });

    expect(image.height).toBe(768 + 900);
    const [red, green, blue] = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ];
    const rows = [717, 767, 769, 1617, 1619, 1667].map((row) => image.at(50, row));
    expect(rows).toEqual([red, red, green, green, blue, blue]);
  });

  it('shows what sticks to the bottom of the window at the bottom of the page, and nothing else', async () => {
    const { at, height } = await picture('/attached', { '--width': '300' });
    const blue = (x: number) =>
      Array.from({ length: height }, (_, y) => y).find((y) => at(x, y).join() === '0,0,255');

    expect(height).toBe(2550);
    expect([25, 75, 125, 175, 225].map(blue)).toEqual([2500, 2500, 0, 700, 2500]);
    expect([at(275, 1999), at(275, 2001), at(275, 2049), at(275, 2051)].map(([red]) => red)).toEqual([
      255, 0, 0, 255,
    ]);
  });

  it('stretches what covers the window, but not what it contains', async () => {
    const { at, height } = await picture('/covered', { '--width': '100' });

    expect(height).toBe(3000);
    const rows = [10, 333, 335, 433, 435, 2990].map((row) => at(50, row));
    const [red, blue] = [
      [255, 0, 0],
      [0, 0, 255],
    ];
    expect(rows).toEqual([blue, blue, red, red, blue, blue]);
    expect([at(10, 10), at(10, 760), at(10, 780)]).toEqual([[0, 255, 0], [0, 255, 0], blue]);
  });

  it('is covered by generated content that covers the window, and ends with what is at the bottom of the window', async () => {
    const { at } = await picture('/generated', { '--width': '100' });

    const [green, blue] = [
      [0, 255, 0],
      [0, 0, 255],
    ];
    expect([10, 790, 2990].map((row) => at(50, row))).toEqual([blue, blue, blue]);
    expect([740, 2940, 2960, 2990].map((row) => at(10, row))).toEqual([blue, blue, green, green]);
  });

  it('is covered by the backdrop of a modal dialog', async () => {
    const { at } = await picture('/modal', { '--width': '100' });

    expect([10, 790, 2990].map((row) => at(5, row))).toEqual(Array(3).fill([0, 0, 255]));
  });

  it('is as wide as the content, unless it has a width', async () => {
    expect((await picture('/broad')).width).toBe(1500);
    expect((await picture('/broad', { '--width': '800' })).width).toBe(800);
    expect((await picture('/broad', { '--width': '800', '--enable-smart-width': '' })).width).toBe(1500);
    expect((await picture('/broad', { '--disable-smart-width': '' })).width).toBe(1024);
    expect((await picture('/broad-cut')).width).toBe(1024);
  });

  it.for([
    ['an animation ends inside the window', '/slides-in', 1024],
    ['a transition that a script starts ends inside the window', '/slides-in-later', 1024],
    ['a script widens the content after a while', '/broad-later', 1500],
    ['the content is one and a half times as wide as the window', '/share', 1.5 * 1.5 * 1024],
  ] as const)('is as wide as the settled content if %s', async ([, path, width]) => {
    expect((await picture(path)).width).toBe(width);
  });

  it('shows WebGL', async () => {
    expect((await picture('/webgl', { '--width': '100' })).at(50, 50)).toEqual([0, 255, 0]);
  });

  it('shows a fixed header once', async () => {
    const image = await picture('/fixed', { '--width': '100' });

    const rows = Array.from({ length: 200 }, (_, index) => index * 100 + 10).filter(
      (row) => image.at(50, row)[2] === 255 && image.at(50, row)[0] === 0,
    );
    expect(image.height).toBe(20_000);
    expect(rows).toEqual([10]);
  });
});
