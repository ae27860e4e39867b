import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { FRONT } from '../../../functions/site/front-texts.ts';
import { TEXTS } from '../../../functions/site/texts.ts';
import { press } from './use-browser.ts';
import { NAMES, useSite } from './use-site.ts';

const { checkAccess, mailServer, open, page } = await useSite();

/** Returns the texts of an object, by their path in it. */
function leaves(texts: object, place = ''): Array<readonly [string, string]> {
  return Object.entries(texts).flatMap(([name, value]) => {
    if (typeof value === 'function') return [];
    return typeof value === 'string' ? [[`${place}${name}`, value]] : leaves(value, `${place}${name}.`);
  });
}

/** Returns the English texts of which another language says the same, or something else. */
function englishOf(language: 'de' | 'fr', isSame: boolean): string[] {
  const own = new Map(leaves({ ...FRONT[language], ...TEXTS[language] }));
  return leaves({ ...FRONT.en, ...TEXTS.en }).flatMap(([name, text]) =>
    (own.get(name) === text) === isSame ? [text] : [],
  );
}

/** Returns the language of the page, and what it says outside of the parts that are marked as English. */
function readPage(): Promise<{ lang: string; said: string[] }> {
  return page().evaluate(() => {
    const copy = document.body.cloneNode(true) as HTMLElement;
    for (const part of copy.querySelectorAll('[lang=en], code, pre')) part.remove();
    const labels = [...copy.querySelectorAll('[aria-label], [placeholder]')].flatMap((element) =>
      ['aria-label', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
    );
    const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode.textContent ?? '');
    const said = [document.title, ...labels, ...texts].map((text) => text.trim()).filter(Boolean);
    return { lang: document.documentElement.lang, said };
  });
}

/** Returns the English texts on the page. A single word counts only if it stands alone. */
async function englishOn(language: 'de' | 'fr'): Promise<string[]> {
  const { lang, said } = await readPage();
  expect(lang).toBe(language);
  return englishOf(language, false).filter((text) =>
    said.some((each) => each === text || (text.includes(' ') && each.includes(text))),
  );
}

/** Returns the text of the last email. */
async function readMail(): Promise<string> {
  const mail = await vi.waitUntil(() => mailServer.mails.at(-1), 60_000);
  const bytes = mail
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

describe.each([
  ['de', 'von 1.000.000 in diesem Monat', '999.999'],
  ['fr', 'sur 1 000 000 ce mois-ci', '999 999'],
] as const)('in %s', (language, limit, left) => {
  const speak = () => page().setExtraHTTPHeaders({ 'Accept-Language': `${language}-CH,en;q=0.5` });

  it('has no English text on any page of a visitor, all of which fit a phone', async () => {
    await speak();
    const found: Record<string, string[]> = {};
    for (const path of ['/', '/try', '/docs', `/docs/${NAMES[0]}`, '/support', '/account', '/nothing']) {
      await open(path);
      await checkAccess();
      found[path] = await englishOn(language);
    }

    expect(Object.entries(found).filter(([, texts]) => texts.length > 0)).toEqual([]);
  });

  it('signs in, converts, shows usage and refuses forms without an English text', async () => {
    await speak();
    mailServer.mails.length = 0;
    await open('/account');
    await page().type('#email', `${language}-${randomUUID()}@example.com`);
    await press(page(), 'form.narrow button');
    const said = [await englishOn(language)];
    const mail = await readMail();
    const token = /token=([\w-]{22})/.exec(mail)![1]!;
    for (const line of TEXTS[language].account.mailText('').split('\n')) expect(mail).toContain(line);
    await open(`/account/sign-in?token=${token}`);
    said.push(await englishOn(language));
    await press(page(), 'main form button');
    await open('/try#app=imageproc&infile=sample:picture.png&outfile=a.webp');
    await page().waitForSelector('[data-field=apikey]', { hidden: true });
    await page().click('#convert');
    await page().waitForSelector('#result img');
    said.push(await englishOn(language));
    await open('/account');
    await checkAccess();
    said.push(await englishOn(language));
    const cards = await page().$eval('.cards', ({ textContent }) => textContent.replaceAll(/\s/g, ' '));
    await page().type('#confirm', 'other@example.com');
    await press(page(), '.danger');
    said.push(await englishOn(language));
    await press(page(), '[action="/account/sign-out"] button');
    said.push(await englishOn(language));

    expect(said.flat()).toEqual([]);
    expect(cards).toContain(limit);
    expect(cards).toContain(left);
  });

  it('says only single words as in English', () => {
    expect(englishOf(language, true).filter((text) => text.includes(' '))).toEqual([]);
  });

  it('says what is wrong with a file before it is sent', async () => {
    await speak();
    await open('/try#app=imageproc');
    await page().click('#convert');
    expect(await page().$eval('[data-field=infile] .error', ({ textContent }) => textContent)).toBe(
      TEXTS[language].try.sourceHint,
    );
  });
});
