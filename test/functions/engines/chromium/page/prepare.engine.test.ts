import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { usePages } from '../use-pages.ts';

const site = await usePages({
  '/small': `<!doctype html><div style="font-size:6px">tiny <span style="font-size:5em">large</span></div>
      <p style="font-size:20px">usual</p><script>setTimeout(() => document.body.append(Object.assign(document.createElement('small'),
      { textContent: 'late', style: 'font-size:4px' })), 50)</script>
      <div><template shadowrootmode=open><p style="font-size:6px">shadow</template></div>`,
  '/screen': `<!doctype html><meta name=viewport content="width=device-width"><p id=p></p><script>
      p.textContent = [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0, /iPhone/.test(navigator.userAgent)].join(' ')</script>
      <style>b { display: none } @media (max-width: 500px) { b { display: inline } }</style><b>narrow</b>`,
  '/browser': `<!doctype html><p id=p></p><script>
      const { brands = [], platform, mobile } = navigator.userAgentData ?? {};
      p.textContent = [brands[0]?.brand, platform, mobile, navigator.platform, screen.width,
        matchMedia('(hover: hover)').matches, matchMedia('(pointer: coarse)').matches].join(' ')</script>`,
  '/columns':
    '<!doctype html><style>b { display: none } @media (min-width: 992px) { b { display: inline } }</style><b>wide</b>',
});

/** Returns the height of each text, in CSS pixels. */
async function textSizes(bytes: Buffer): Promise<Record<string, number>> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(1)).getTextContent();
  await document.loadingTask.destroy();
  return Object.fromEntries(
    items.flatMap((item) =>
      'str' in item && item.str.trim() ? [[item.str.trim(), Math.round((item.height * 96) / 72)]] : [],
    ),
  );
}

describe('a smallest font size', () => {
  it('enlarges smaller text, and no other', async () => {
    const { bytes } = await site.pdf('/small', { '--minimum-font-size': '12' });

    expect(await textSizes(bytes)).toEqual({ tiny: 12, large: 30, usual: 20, late: 12, shadow: 12 });
    expect(await textSizes((await site.pdf('/small', {})).bytes)).toMatchObject({ tiny: 6, late: 4 });
  });
});

describe('a device', () => {
  it('gives scripts its screen, and the image its pixels', async () => {
    expect((await site.picture('/screen', { '--device': 'iphone 13' })).width).toBe(390 * 3);
  });

  it('lays out a PDF as on its screen', async () => {
    expect((await site.pdf('/screen', { '--device': 'iPhone 13' })).text).toBe('390 844 3 true true narrow');
    expect((await site.pdf('/screen', {})).text).not.toContain('narrow');
  });

  it('is told from a desktop by its client hints, platform, screen and pointer', async () => {
    const read = async (device?: string) =>
      (await site.pdf('/browser', device ? { '--device': device } : {})).text;

    expect(await read()).toMatch(/^Chromium Linux false Linux x86_64 \d+ true false$/);
    expect(await read('iPhone 13')).toMatch(/ iPhone 390 false true$/);
    expect(await read('Pixel 5')).toBe('Chromium Android true Linux armv8l 393 false true');
    expect(JSON.stringify(site.asked.map(({ headers }) => headers))).not.toContain('Headless');
  });

  it('must be one that is known', async () => {
    await expect(site.pdf('/screen', { '--device': 'Nokia 3310' })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
      message: expect.stringContaining("'Nokia 3310'"),
    });
  });
});

describe('a window wider than the paper', () => {
  it.for([{}, { '--disable-smart-shrinking': '' }])(
    'is laid out as wide as it is, with %j',
    async (query) => {
      expect((await site.pdf('/columns', { '--viewport-size': '1280x1024', ...query })).text).toBe('wide');
      expect((await site.pdf('/columns', query)).text).toBe('');
    },
  );
});
