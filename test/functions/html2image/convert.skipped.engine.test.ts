import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { usePages } from '../engines/chromium/use-pages.ts';

const START = '<!doctype html><body style="margin:0">';
/** The browser counts 20 px for a section until it is near the window, then 200 px. */
const section = (color = '#0f0', style = '') =>
  `<section style="content-visibility:auto;contain-intrinsic-size:1px 20px"><div style="height:200px;background:${color};${style}"></div></section>`;
const later = (html: string) =>
  `${START}<script>setTimeout(() => { document.body.innerHTML = ${JSON.stringify(html)} }, 500)</script>`;

const green = await sharp({ create: { width: 100, height: 100, channels: 3, background: '#00ff00' } })
  .png()
  .toBuffer();
const image = '<img loading="lazy" src="/green.png" style="display:block">';
const { picture } = await usePages({
  '/sections': START + section().repeat(30),
  '/late': later(section().repeat(100)),
  '/shadow': `${START}<div><template shadowrootmode="open">${section().repeat(100)}</template></div>`,
  '/margins': START + section('#0f0', 'margin:50px 0').repeat(30),
  '/element': `${START}${section().repeat(300)}<div id="last">${section('#00f')}</div>`,
  '/late-image': later(`<div style="height:20000px;background:#0f0"></div>${image}`),
  '/green.png': (_request, response) => {
    response.setHeader('content-type', 'image/png');
    response.end(green);
  },
});

/** Returns the height of the image, and how many of its rows have the color, at the left edge. */
async function rows(path: string, query: Record<string, string> = {}, color = [0, 255, 0]) {
  const { height, at } = await picture(path, { '--width': '100', ...query });
  const left = Array.from({ length: height }, (_, y) => at(0, y).slice(0, 3).join());
  return { height, colored: left.filter((each) => each === color.join()).length };
}

describe('what the browser skips until it is scrolled to', () => {
  it('is drawn in sections with content-visibility: auto', async () => {
    expect(await rows('/sections')).toEqual({ height: 6000, colored: 6000 });
  });

  it('is drawn if a script adds it after the page has loaded', async () => {
    expect(await rows('/late')).toEqual({ height: 20_000, colored: 20_000 });
    expect(await rows('/late-image')).toEqual({ height: 20_100, colored: 20_100 });
  });

  it('is drawn in a shadow tree', async () => {
    expect(await rows('/shadow')).toEqual({ height: 20_000, colored: 20_000 });
  });

  it('still contains its margins', async () => {
    expect(await rows('/margins')).toEqual({ height: 9000, colored: 6000 });
  });

  it('is drawn if it is the selected element', async () => {
    expect(await rows('/element', { '--selector': '#last' }, [0, 0, 255])).toEqual({
      height: 200,
      colored: 200,
    });
  });
});
