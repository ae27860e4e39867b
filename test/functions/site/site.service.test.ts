import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readRequest } from '../../../functions/conversion/request.ts';
import type { Option } from '../../../functions/shared/options/option.ts';
import { referenceOf } from '../../../functions/shared/options/reference.ts';
import { Members } from '../../../functions/site/accounts/members.ts';
import { callOf } from '../../../functions/site/client/service.ts';
import { zipOf } from '../../../functions/site/client/zip.ts';
import { openStores } from '../../../infra/local/stores.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { press } from './use-browser.ts';
import { ALL, NAMES, useSite } from './use-site.ts';

const { used, base, page, data, mailServer, sources, file, ...site } = await useSite();
const { open, ended, enterKey, callText, convertDropped, checkAccess, checkWholePage } = site;
const PATHS = ['/', '/try', '/docs', '/support', '/account', ...NAMES.map((name) => `/docs/${name}`)];

const errorAt = (field: string) =>
  page()
    .waitForSelector(`[data-field="${field}"] .error:not([hidden])`)
    .then((place) => place!.evaluate((each) => each.textContent!));

describe('the page with all options', () => {
  it.each(NAMES)('%s: shows the result of a sample after three clicks', async (name) => {
    await open('/try');
    await enterKey();

    await page().click(`.tabs [data-tool=${name}]`);
    await page().click('[data-sample]:not([hidden])');
    await page().click('#convert');
    const { status, images, text } = await ended();

    expect(status).toMatch(/^Done in [\d.]+ s, [\d.]+ (kB|MB)$/);
    // The browser of the tests has no viewer for PDFs.
    if (/no preview/.test(text)) expect(text).toMatch(/Download \S+\.pdf/);
    else expect(images).toBeGreaterThan(0);
    expect(text).toContain('Request ID');
  });

  it('converts a file that is dropped', async () => {
    expect(await convertDropped('imageproc')).toMatch(/^Done/);
  });

  it('uploads a file first that is too large for a request', async () => {
    await open('/try#app=imageproc');
    await enterKey();
    const paths: string[] = [];
    page().on('request', (request) => paths.push(`${request.method()} ${new URL(request.url()).pathname}`));

    await page().$eval('#try', (form) => form.setAttribute('data-max-body', '10'));
    await (await page().$('input#choose'))!.uploadFile(file('picture.png'));
    await page().click('#convert');
    const { status, images } = await ended();

    expect([status, images]).toEqual([expect.stringMatching(/^Done/), 1]);
    await vi.waitFor(() =>
      expect(paths.filter((path) => path.includes('/api/'))).toEqual([
        'POST /api/uploads',
        'POST /api/uploads',
        'GET /api/',
        'DELETE /api/uploads',
      ]),
    );
  });

  it('converts a URL in demo mode without a key', async () => {
    const url = used().sources.urlOf('picture.png');
    await open('/try#app=imageproc');

    await page().type('#infile', url);
    await page().keyboard.press('Enter');
    const { images, text } = await ended();

    expect(images).toBe(1);
    expect(text).toContain('Preview of the first page');
  });

  it('shows several pages as a strip, and text as text', async () => {
    const infile = used().sources.urlOf('report.pdf');
    await open(`/try#app=pdftools&infile=${encodeURIComponent(infile)}&outfile=page-%25d.png&-r=30`);
    await enterKey();
    await page().click('#convert');
    const pages = await ended();
    await open(`/try#app=pdftools&infile=${encodeURIComponent(infile)}&outfile=all.txt`);
    await page().reload();
    await enterKey();
    await page().click('#convert');
    await ended();

    expect(pages.images).toBe(3);
    expect(await page().$eval('#result pre', ({ textContent }) => textContent)).toMatch(/1.*2.*3/s);
  });

  it('shows an error at the field that it is about, with its code', async () => {
    await open('/try#app=pdftools&infile=ftp://x/&outfile=a.png&-r=5');

    const error = await page().waitForSelector('#pdftools-r ~ .error:not([hidden])');

    expect(await error!.evaluate((each) => each.textContent)).toMatch(
      /^Parameter '-r' must be .* BAD_PARAMETER$/,
    );
    expect(await page().$eval('#pdftools-r', (each) => each.getAttribute('aria-invalid'))).toBe('true');
    expect(await errorAt('infile')).toMatch(/BAD_ADDRESS$/);
  });

  it('shows a PDF with the viewer of the browser, at no cost', async () => {
    const left = async () => {
      const { limits } = await (await fetch(`${base()}/api/usage?apikey=${used().service.apiKey}`)).json();
      return limits.minute.used as number;
    };
    await page().evaluateOnNewDocument(() => {
      Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', { get: () => true });
    });
    await open('/try#app=html2pdf&infile=sample%3Apage.html&outfile=a.pdf');
    await enterKey();
    const before = await left();
    await page().click('#convert');
    await ended();

    expect(await page().$eval('#result iframe', (frame) => (frame as HTMLIFrameElement).src)).toContain(
      '/files/',
    );
    expect((await left()) - before).toBe(1);
  });

  it('tells how much of a file has been sent', async () => {
    await open('/try#app=imageproc&outfile=a.png');
    await enterKey();
    await page().evaluate(() => {
      const seen: number[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        const bar = document.querySelector<HTMLProgressElement>('#status progress');
        if (bar) seen.push(bar.position);
      }).observe(document.querySelector('#status')!, { subtree: true, childList: true, attributes: true });
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(5_000_000)], 'a.png'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    // Otherwise the file has been sent before the browser tells any progress.
    await page().emulateNetworkConditions({ upload: 5e6, download: 1e9, latency: 0 });
    await page().click('#convert');
    await ended();

    const seen = await page().evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
    expect(seen.some((share) => share > 0 && share < 1)).toBe(true);
    expect(seen.at(-1)).toBe(-1);
  });

  it('shows what went wrong with a source at its field', async () => {
    await open(`/try#app=pdftools&infile=${encodeURIComponent(used().sources.urlOf('missing'))}`);
    await enterKey();

    await page().click('#convert');

    expect(await errorAt('infile')).toMatch(/SOURCE_STATUS$/);
  });

  it('restores a call from the hash, and goes back and forward', async () => {
    const hash =
      '#app=imageproc&infile=sample%3Apicture.png&outfile=b.webp&-rotate=90&-resize=50%25&-strip=no';
    await open(`/try${hash}`);
    await page().click('.tabs [data-tool=html2pdf]');
    const other = await page().evaluate(() => location.hash);
    await page().goBack();
    const call = await callText();

    expect(other).toMatch(/^#app=html2pdf/);
    expect(call).toContain(
      'app=imageproc&infile=sample%3Apicture.png&outfile=b.webp&_args=-rotate%3D90%20-resize%3D50%25%20-strip%3Dno',
    );
    expect(await page().$eval('#imageproc-resize', (each) => (each as HTMLInputElement).value)).toBe('50%');
    await page().goForward();
    expect(await page().evaluate(() => location.hash)).toBe(other);
  });

  it('works with the keyboard alone', async () => {
    await open('/try');
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page().keyboard.press('Tab');
        if (await page().evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      }
      throw new Error(`${selector} cannot be reached.`);
    };

    await tabTo('.tabs [data-tool=imageproc]');
    await page().keyboard.press('Enter');
    await tabTo('[data-sample="picture.png"]');
    await page().keyboard.press('Space');
    await tabTo('#convert');
    await page().keyboard.press('Enter');

    expect((await ended()).images).toBe(1);
  });

  it('runs no script from a link, a file name or an error', async () => {
    const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const hash = ['app', 'infile', 'outfile', '-resize', `-${evil}`].map(
      (name) => `${encodeURIComponent(name)}=${encodeURIComponent(evil)}`,
    );
    await open(`/try#${hash.join('&')}`);
    await page().waitForSelector('.error:not([hidden])');
    await enterKey();
    await page().click('#convert');
    await page().waitForSelector('#try:not([aria-busy])');

    expect(await page().$$eval('main script, main img[onerror]', ({ length }) => length)).toBe(0);
  });

  it('never takes a key from the hash, or writes it there', async () => {
    await open('/try#app=imageproc&apikey=SECRET&infile=sample%3Apicture.png');
    await page().type('#apikey', 'TYPED');
    await page().type('#outfile', 'x');

    expect(await page().evaluate(() => location.hash)).not.toMatch(/apikey|TYPED/);
    expect(await callText()).not.toMatch(/SECRET|TYPED/);
  });

  it.each(ALL.map((tool) => [tool.name, tool] as const))(
    '%s: the control of every option makes a call that the service accepts',
    async (name, tool) => {
      const options = [...referenceOf(tool).values()].flat().map(({ option }) => option);
      const usual = tool.formats.includes('png') ? 'png' : 'pdf';
      const entries = options.map((option) => ({
        option: option.names[0]!,
        value: valueFor(option),
        format: (option.outputs ?? [usual]).toSorted((a) => (a === usual ? -1 : 1))[0]!,
      }));
      await open(`/try#app=${name}`);

      const calls = await page().evaluate(
        (app, all) => {
          const way = document.querySelector<HTMLInputElement>('[value=URL]')!;
          way.click();
          const outfile = document.querySelector<HTMLInputElement>('#outfile')!;
          return all.map(({ option, value, format }) => {
            outfile.value = `a.${format}`;
            const control = document.getElementById(`${app}${option}`) as HTMLInputElement;
            const before = control.value;
            const isSwitch = control.type === 'checkbox';
            const set = (next: string) => {
              if (isSwitch) control.checked = !control.checked;
              else control.value = next;
              control.dispatchEvent(new Event('input', { bubbles: true }));
            };
            set(value);
            const call = document.querySelector('#call')!.textContent!;
            set(before);
            return call;
          });
        },
        name,
        entries,
      );

      const refused = calls.flatMap((call, index) => {
        const { option } = entries[index]!;
        const query = [...new URL(call).searchParams].map(([each, value]) => ({ name: each, value }));
        try {
          const given = readRequest(query, ALL, { canUpload: true }).optionNames;
          return given.join() === option ? [] : [`${option}: ${given.join()}`];
        } catch (thrown) {
          return [`${option}: ${String(thrown)}`];
        }
      });
      expect(refused).toEqual([]);
    },
  );
});

/** A value that the option accepts: an example of its rule, or one of the usual kinds. */
function valueFor(option: Option<unknown>): string {
  const { schema, rule, names, words: following } = option;
  if (following === 'none') return 'yes';
  const words = Array.isArray(schema.enum) ? (schema.enum as string[]) : [];
  const word = /(?:one|list) of ([^\s,]+)/.exec(rule)?.[1] ?? '';
  const examples = [...rule.matchAll(/\b(?:such as|or) (?:'([^']+)'|([^\s,()]+))/g)].map(
    ([, a, b]) => (a ?? b)!,
  );
  const example = /such as ([^()]+?)(?: or |$)/.exec(rule)?.[1] ?? '';
  const low = Number(schema.minimum ?? 1);
  const combined = [word, `${word}:x`, example, `${word} ${example}`];
  const usual = [
    'red',
    ';',
    '2',
    '90',
    '50%',
    '20mm',
    '100x100',
    'a:b',
    '0,0 1,1',
    'text',
    'UTC',
    'https://a.example/b',
  ];
  const candidates = [...words, String(low + 1), String(low), ...examples, ...combined, ...usual];
  const found = candidates
    .filter((value) => value.trim() !== '')
    .find((value) => {
      try {
        option.read([{ name: names[0]!, value }]);
        return true;
      } catch {
        return false;
      }
    });
  if (found === undefined) throw new Error(`No value for ${names[0]}: ${rule}`);
  return found;
}

describe('the page for everyone', () => {
  afterEach(async () => {
    const context = page().browserContext();
    await context.deleteCookie(...(await context.cookies()));
  });
  const invite = async (email: string) => {
    const stores = openStores(data);
    const token = await new Members(stores).invite(email);
    stores.close();
    await open(`/account/sign-in?token=${token}`);
    await press(page(), 'main form button');
    await open('/');
  };
  const choose = async (...names: string[]) => {
    const input = (await page().$('input#files')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(...names.map(file));
    await page().waitForSelector(`#items > li:nth-child(${names.length})`);
  };
  /** Waits until every source is converted or has failed, and returns what the list says. */
  const results = async () => {
    await page().waitForFunction(() => {
      const states = [...document.querySelectorAll<HTMLElement>('#items > li')].map(
        ({ dataset }) => dataset.state!,
      );
      return states.every((state) => state === 'done' || state === 'failed');
    });
    return page().$$eval('#items > li', (all) =>
      all.map(
        (item) => `${(item as HTMLElement).dataset.state} ${item.querySelector('.status')!.textContent}`,
      ),
    );
  };

  it('converts several files for whoever is signed in, each with its own result or error', async () => {
    await writeFile(file('broken.pdf'), '%PDF-1.7 nothing');
    await invite('office@example.com');

    await choose('letter.docx', 'picture.png', 'report.pdf', 'broken.pdf');
    await page().click('#start');
    const found = await results();

    expect(found).toEqual([
      expect.stringMatching(/^done Done in .*Download letter\.pdf$/),
      expect.stringMatching(/^done Done in .*Download picture\.jpg$/),
      expect.stringMatching(/^done Done in .*Download 3 files \(\.zip\)$/),
      expect.stringMatching(/^failed This file is damaged or incomplete\./),
    ]);
    expect(await page().$eval('#summary', ({ textContent }) => textContent)).toBe(
      '3 of 4 converted, 1 failed.',
    );
    expect(await page().$$eval('.grid img', ({ length }) => length)).toBe(4);
    await page().click('details.more > summary');
    await checkAccess();
    await open('/account');
    expect(await page().$eval('main', ({ textContent }) => textContent)).toContain(
      'Conversions: 4. Failed: 1',
    );
  });

  it('opens a protected file with its password, and makes a photo a PDF', async () => {
    await writeFile(
      file('locked.doc'),
      await readFile(join(import.meta.dirname, '../../fixtures/office/locked.doc')),
    );
    await invite('office@example.com');

    await choose('locked.doc', 'picture.png');
    await page().select('#items > li:nth-child(2) select', 'pdf');
    await page().click('#start');
    expect((await results())[1]).toMatch(/^done .*picture\.pdf$/);
    await page().type('#items input[type=password]', 'wrong');
    await page().keyboard.press('Enter');
    await page().waitForFunction(() =>
      /This password is wrong/.test(document.querySelector('#items')!.textContent!),
    );
  });

  it('combines files in the order of the list into one PDF', async () => {
    await invite('office@example.com');

    await choose('picture.png', 'letter.docx', 'report.pdf');
    await page().click('#combine');
    await page().waitForSelector('#items > li:nth-child(4):is([data-state=done], [data-state=failed])');
    const [link] = await page().$$eval('#items > li:nth-child(4) a[download]', (all) =>
      all.map((each) => ({ name: each.getAttribute('download'), url: (each as HTMLAnchorElement).href })),
    );

    expect(link?.name).toBe('combined.pdf');
    const { pages } = await readPdf(await (await fetch(link!.url)).bytes());
    expect(pages.length).toBe(7);
    expect(pages[0]!.text).toBe('');
  });

  it('combines files and samples in the order of the list, also if only one of them is left', async () => {
    await writeFile(file('broken.pdf'), '%PDF-1.7 nothing');
    await writeFile(file('empty.pdf'), '');
    await invite('office@example.com');
    const sample = (name: string) => page().click(`[data-sample="${name}"]`);
    const last = '#items > li:last-child';
    const pagesOf = async () => {
      const link = await page().waitForSelector(`${last} a[download]`);
      return (await readPdf(await (await fetch(await link!.evaluate(({ href }) => href))).bytes())).pages;
    };

    await sample('picture.png');
    await choose('report.pdf');
    await page().waitForSelector('#items > li:nth-child(2)');
    await sample('picture.png');
    await page().click('#combine');
    const texts = (await pagesOf()).map(({ text }) => text !== '');
    await page().click('#clear');
    await choose('letter.docx', 'broken.pdf', 'empty.pdf');
    await page().click('#combine');
    const errors: unknown[] = [];
    for (const _ of [1, 2]) {
      await page().waitForSelector(`${last}[data-state=failed]`);
      errors.push(await page().$eval(`${last} .error`, ({ textContent }) => textContent));
      await page().click(`${last} .status button`);
    }

    expect(texts).toEqual([false, true, true, true, false]);
    expect(await pagesOf()).toHaveLength(3);
    expect(errors).toEqual([
      'empty.pdf: This file is empty.',
      'broken.pdf: This file is damaged or incomplete.',
    ]);
  });

  it('orders files by keys and by dragging, and shows pictures', async () => {
    await invite('office@example.com');
    const names = () => page().$$eval('#items .title strong', (all) => all.map((each) => each.textContent));
    await choose('picture.png', 'letter.docx', 'report.pdf');
    await page().waitForSelector('#items canvas');

    await page().focus('[aria-label="Move report.pdf up"]');
    await page().keyboard.press('Enter');
    await page().keyboard.press('Enter');
    expect(await names()).toEqual(['report.pdf', 'picture.png', 'letter.docx']);
    expect(await page().$eval('#moved', ({ textContent }) => textContent)).toBe(
      'report.pdf is number 1 of 3.',
    );
    const handle = async (number: number) =>
      (await page().$(`#items > li:nth-child(${number}) .kind`))!.clickablePoint();
    const [first, third] = [await handle(1), await handle(3)];
    await page().mouse.move(first.x, first.y);
    await page().mouse.down();
    await page().mouse.move(third.x, third.y + 25, { steps: 5 });
    await page().mouse.up();

    expect(await names()).toEqual(['picture.png', 'letter.docx', 'report.pdf']);
    await page().waitForFunction(() => document.getAnimations().length === 0);
    await checkAccess();
  });

  it('names the file that cannot be combined, and goes on without it', async () => {
    await writeFile(file('broken.pdf'), '%PDF-1.7 nothing');
    await invite('office@example.com');
    await choose('picture.png', 'broken.pdf', 'report.pdf');

    await page().click('#combine');
    const combined = '#items > li:nth-child(4)';
    await page().waitForSelector(`${combined}[data-state=failed]`);
    const error = await page().$eval(`${combined} .error`, ({ textContent }) => textContent);
    await page().waitForFunction(() => document.getAnimations().length === 0);
    await checkAccess();
    await page().click(`${combined} .status button`);
    const link = await page().waitForSelector(`${combined} a[download]`);

    expect(error).toBe('broken.pdf: This file is damaged or incomplete.');
    const { pages } = await readPdf(await (await fetch(await link!.evaluate(({ href }) => href))).bytes());
    expect(pages.length).toBe(4);
  });

  /** Opens the page with another limit, and returns the calls that convert or upload. */
  const openWith = async (attribute: string, value: string) => {
    await page().evaluateOnNewDocument(
      (...given) => {
        const change = () => document.querySelector('#front')?.setAttribute(...given);
        new MutationObserver(change).observe(document, { childList: true, subtree: true });
      },
      attribute,
      value,
    );
    await open('/');
    const calls: string[] = [];
    page().on('request', (sent) => calls.push(`${sent.method()} ${new URL(sent.url()).pathname}`));
    return () => calls.filter((call) => /convert|api/.test(call));
  };

  it('sends nothing if files are too large together', async () => {
    await invite('office@example.com');
    const calls = await openWith('data-max-source', '6230');
    await choose('letter.docx', 'picture.png');

    await page().click('#combine');
    const error = await page().waitForSelector('[data-state=failed] .error');

    expect(await error!.evaluate(({ textContent }) => textContent)).toMatch(/^Together, these files have /);
    expect(calls()).toEqual([]);
  });

  it('deletes what was uploaded when a combination has failed', async () => {
    await writeFile(file('broken.pdf'), '%PDF-1.7 nothing');
    await invite('office@example.com');
    const uploads = async () =>
      (await readdir(join(data, 'results'))).filter((name) => name.startsWith('demo-'));
    const before = await uploads();
    const calls = await openWith('data-max-body', '10');
    await choose('letter.docx', 'broken.pdf');

    await page().click('#combine');
    await page().waitForSelector('[data-state=failed] .error');

    const issued = 'POST /site/convert/uploads';
    expect(calls().filter((call) => call === issued)).toHaveLength(2);
    await vi.waitFor(async () => expect(await uploads()).toEqual(before));
  });

  it('lists earlier results after a reload, only for who made them, and asks before work is lost', async () => {
    await invite('office@example.com');
    await choose('picture.png');
    await page().click('#items .head > button');
    await results();
    const earlier = () => page().$$eval('#earlier:not([hidden]) a', (all) => all.map(({ href }) => href));

    await open('/');
    await page().waitForSelector('#earlier:not([hidden])');
    const [link] = await earlier();
    await page().click('#earlier summary');
    await checkAccess();
    await invite('other@example.com');
    await page().waitForSelector('#signed-in:not([hidden])');

    expect((await fetch(link!)).status).toBe(200);
    // As long as the result.
    expect(Number(new URL(link!).searchParams.get('expires'))).toBeGreaterThan(Date.now() / 1000 + 23 * 3600);
    expect(await earlier()).toEqual([]);
    await choose('letter.docx');
    await page().click('#items .head > button');
    expect(await page().evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))).toBe(
      true,
    );
    await results();
  });

  it('says why a PDF cannot become Word, and what an archive without a page is', async () => {
    await writeFile(
      file('photos.zip'),
      await zipOf([{ name: 'a.txt', content: new Blob(['a']) }]).then((zip) => zip.bytes()),
    );
    await invite('office@example.com');
    await choose('report.pdf', 'photos.zip');

    await page().select('#items > li:nth-child(1) select', 'docx');
    await page().click('#start');
    const found = await results();

    expect(found[0]).toMatch(/^failed A PDF cannot become Word/);
    expect(found[1]).toMatch(/^failed This archive contains no web page/);
    expect(await page().$$eval('#items small', (all) => all[1]!.textContent)).toMatch(
      /^ZIP archive · \d+ byte$/,
    );
  });

  it('needs no mouse, and speaks the language of the browser', async () => {
    await page().setExtraHTTPHeaders({ 'Accept-Language': 'de-AT,de;q=0.9,en;q=0.8' });
    await open('/');
    await page().waitForSelector('#demo:not([hidden])');
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page().keyboard.press('Tab');
        if (await page().evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      }
      throw new Error(`${selector} cannot be reached.`);
    };
    await tabTo('#url');
    await page().keyboard.type(used().sources.urlOf('picture.png').replace('http://', 'HTTP://'));
    await page().keyboard.press('Enter');
    await tabTo('#items button');
    await page().keyboard.press('Enter');

    expect(await results()).toEqual([
      expect.stringMatching(/^done Fertig in \d+,\d s, .*picture\.jpgVorschau der ersten Seite$/),
    ]);
    expect(await page().$eval('h1', ({ textContent }) => textContent)).toBe('Dateien umwandeln');
  });

  it('tells whoever is not signed in what to do with a file, and refuses what is no address', async () => {
    await open('/');
    await choose('picture.png');
    await page().click('#items button');
    await page().type('#url', 'not an address');
    await page().keyboard.press('Enter');

    expect((await results())[0]).toMatch(/^failed Sign in to convert your own files\./);
    expect(await page().$eval('#url-error', ({ textContent }) => textContent)).toMatch(
      /^This is not a web address/,
    );
  });

  it('converts without JavaScript', async () => {
    await invite('plain@example.com');
    await page().setJavaScriptEnabled(false);
    await open('/');

    const input = (await page().$('#plain-file')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(file('letter.docx'));
    await page().select('#file-outfile', 'result.png');
    await press(page(), '.plain form button');

    expect(page().url()).toMatch(/\/files\/\w+\/result\.png/);
  });
});

it('signs up by email without JavaScript, and converts with the first key', async () => {
  await page().setJavaScriptEnabled(false);
  await open('/account');
  await page().type('#email', 'Alice@example.com');
  await press(page(), 'form .narrow button, form.narrow button');
  const mail = await vi.waitUntil(() => mailServer.mails.at(-1), 60_000);
  const token = /token=(?:3D)?([\w-]{22})/.exec(mail.replace(/=\r?\n/g, ''))![1]!;
  await open(`/account/sign-in?token=${token}`);
  await press(page(), 'form button');
  const key = await page().$eval('#new-key', ({ textContent }) => textContent!);
  await page().setJavaScriptEnabled(true);
  await open('/try#app=imageproc');
  await page().type('#apikey', key);
  await page().waitForSelector('[data-field=apikey]', { hidden: true });
  await page().click('[data-sample]:not([hidden])');
  await page().click('#convert');
  const { images } = await ended();
  await open('/account');
  const account = await page().$eval('main', ({ textContent }) => textContent!);

  expect(images).toBe(1);
  expect(account).toMatch(/alice@example\.com.*Conversions: 1\. Failed: 0\./s);
  await checkAccess();
});

it('manages accounts without JavaScript, whose uploads stop with them', async () => {
  const stores = openStores(data);
  const token = await new Members(stores).inviteOperator();
  const { apiKey, record } = await stores.keys.create({ name: 'customer' });
  const form = await prepareUpload(apiKey);
  await stores.failures.record({
    account: record.account,
    time: Date.now(),
    code: 'TIMED_OUT',
    requestId: 'a-request',
  });
  const submit = (selector: string) => press(page(), selector);
  const text = () => page().$eval('main', ({ textContent }) => textContent!);
  await page().setJavaScriptEnabled(false);

  await open(`/account/sign-in?token=${token}`);
  await submit('main form button');
  const overview = await text();
  await submit('.tabs a[href="/operator/accounts"]');
  await page().type('[name=search]', 'customer');
  await submit('.find button');
  await submit('th[scope=row] a');
  await page().type('[name=perMonth]', '7');
  await submit('.keys button');
  const limited = await stores.keys.get(record.id);
  const before = await stores.keys.find(apiKey);
  await submit('form[action="/operator/accounts/disable"] button');
  const [disabled, upload] = [await text(), await form('a')];
  const headers = { 'X-Api-Key': apiKey, Accept: 'application/json' };
  const convert = await fetch(`${base()}/api/usage`, { headers });
  await submit('form[action="/operator/accounts/enable"] button');
  const again = await form('b');
  await submit('.tabs a[href="/operator/audit"]');
  const log = await text();
  stores.close();

  expect(overview).toMatch(/pdftools up.*workers.*chromium.*database.*a-request/s);
  expect([limited?.limits, before?.id]).toEqual([{ perMonth: 7 }, record.id]);
  expect(disabled).toContain('This account is disabled');
  expect([upload.status, convert.status, again.status]).toEqual([400, 401, 204]);
  expect(log).toMatch(/enable account.*disable account.*change limits.*perMonth=7.*sign in/s);
  await page().setJavaScriptEnabled(true);
  for (const path of ['', '/accounts', `/account?id=${record.account}`, '/audit', '/accounts?search=none']) {
    await open(`/operator${path}`);
    await checkAccess();
  }
});

/** Requests a form for an upload, and returns what sends a file with it. */
async function prepareUpload(apiKey: string) {
  const issue = () =>
    fetch(`${base()}/api/uploads?name=a.png`, { method: 'POST', headers: { 'X-Api-Key': apiKey } });
  const { url, fields } = await (await issue()).json();
  return (content: string) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields as Record<string, string>)) body.append(name, value);
    body.append('file', new Blob([content]), 'a.png');
    return fetch(url, { method: 'POST', body });
  };
}

describe('every page', () => {
  // The other references have the same parts.
  it.each(['/', '/try', '/docs', '/support', '/account', '/docs/html2pdf'])(
    '%s has no accessibility violations in light or dark, and fits a phone',
    checkWholePage,
  );

  it('has an anchor for every name of every option, and for every error code', async () => {
    for (const tool of ALL) {
      const text = await (await fetch(`${base()}/docs/${tool.name}`)).text();
      const names = [...referenceOf(tool).values()].flat().flatMap(({ option }) => option.names);
      const anchors = names.filter((name) => text.includes(`id="${name}"`));
      expect(anchors).toEqual(names);
    }
  });

  it('takes at most 80 kB with everything that it loads', async () => {
    const sizes = new Map<string, number>();
    const encoded = (path: string) => fetch(`${base()}${path}`, { headers: { 'Accept-Encoding': 'gzip' } });
    for (const path of PATHS) {
      const text = await (await encoded(path)).text();
      const parts = [path, ...[...text.matchAll(/(?:src|href)="(\/site\/[^"]+)"/g)].map(([, part]) => part!)];
      const bytes = await Promise.all(
        [...new Set(parts)].map(async (part) => Number((await encoded(part)).headers.get('content-length'))),
      );
      sizes.set(
        path,
        bytes.reduce((sum, size) => sum + size, 0),
      );
    }

    expect([...sizes].filter(([, size]) => size > 80_000)).toEqual([]);
  });

  it('lets no result run a script on its origin', async () => {
    const infile = encodeURIComponent(used().sources.urlOf('picture.png'));
    const call = `${base()}/api/?app=imageproc&infile=${infile}&outfile=a.png&apikey=${used().service.apiKey}`;
    const [, url] = /\[Output\] (\S+)<br>/.exec(await (await fetch(call)).text())!;
    const { headers } = await fetch(url!);

    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('cannot be framed, and allows only its own scripts', async () => {
    for (const path of PATHS) {
      const { headers } = await fetch(`${base()}${path}`);
      const policy = headers.get('content-security-policy') ?? '';

      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('the programs that the page shows', () => {
  it('run with a URL and print the URL of the result', async () => {
    await site.runProgramsOf('imageproc');
  });

  it('run with a file, whatever its name is', async () => {
    const name = `it's "$HOME" \\ %41 é.png`;
    await writeFile(file(name), sources['picture.png']!);
    const call = { app: 'imageproc', infile: '', outfile: 'a.jpg', options: new Map() };

    await site.runPrograms(callOf(call, base(), { file: name }));
  });
});
