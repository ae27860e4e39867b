import { pdfOf } from '../../fixtures/pdf-text.ts';
import { unzip } from '../../helpers/zip.ts';
import { withSharedService } from '../neighbor/service.ts';
import type { Reached, Row } from '../row.ts';

/** Names of files attached to a PDF that would leave the folder into which an archive is unpacked. */
const NAMES = ['../../a.txt', '/etc/a.txt', 'C:\\a.txt', '..\\..\\a.txt', '..', 'a.txt/../../b.txt'];
const PICTURE = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')}`;

/** Tries to delete and to read a result of another account by its URL, and to write outside of a folder by the names in an archive. */
export const results: Row = {
  name: 'results',
  title: "another account's results by URL; names in archives",
  figures: 'attempts that worked',
  target: '0',
  run: ({ canary }): Promise<Reached> =>
    withSharedService({ sources: [], canary }, async ({ port, attacker, neighbor }) => {
      const failures: string[] = [];
      let attempts = 0;
      const tried = (what: string, worked: boolean) => {
        attempts += 1;
        if (worked) failures.push(what);
      };
      const convert = async ({ ask }: typeof attacker) =>
        (await ask({ app: 'imageproc', infile: PICTURE, outfile: 'a.png' })).results[0]!;
      const [url, own] = [await convert(neighbor), await convert(attacker)];
      const base = `http://127.0.0.1:${port}`;
      const { pathname } = new URL(url);
      const [folder, ownFolder] = [pathname, new URL(own).pathname].map((path) => path.split('/')[2]!);

      const remove = async (path: string, apiKey: string) => {
        const headers = { 'X-Api-Key': apiKey };
        return (await fetch(`${base}${path}`, { method: 'DELETE', headers })).status;
      };
      const spellings = [
        url,
        pathname,
        `http://other.example${pathname}`,
        pathname.replace('a.png', '%61.png'),
        pathname.replace(folder!, folder!.toUpperCase()),
        pathname.replace('/files/', '/files/once/'),
        pathname.replace('/files/', '//files//'),
        `/files/${ownFolder}/../${folder}/a.png`,
        `/files/${ownFolder}/..%2F${folder}%2Fa.png`,
        `/files/${ownFolder}%2F..%2F${folder}/a.png`,
        `/files/${folder}/.`,
        `/files/${folder}`,
      ];
      for (const apiKey of [attacker.apiKey, '']) {
        for (const spelling of spellings) {
          const query = `/api/results?url=${encodeURIComponent(spelling)}`;
          for (const path of [query, spelling.replace(/^https?:\/\/[^/]+/, '')]) {
            await remove(path, apiKey);
            tried(`DELETE ${path}`, (await fetch(url)).status !== 200);
          }
        }
      }
      for (const name of ['expires', 'signature']) {
        for (const value of ['', '9999999999', '0'.repeat(64), new URL(own).searchParams.get(name)!]) {
          const changed = new URL(url);
          changed.searchParams.set(name, value);
          const isOther = changed.href !== new URL(url).href;
          tried(`GET with ${name}=${value}`, isOther && (await fetch(changed)).status === 200);
        }
      }
      if ((await remove(pathname, neighbor.apiKey)) !== 204) failures.push('The owner cannot delete it.');

      const pdf = hostilePdf();
      const infile = `data:application/pdf;base64,${pdf.toString('base64')}`;
      const { results: archives, body } = await attacker.ask({
        app: 'pdftools',
        infile,
        outfile: 'a.zip',
        '-attachments': '',
      });
      if (archives.length === 0) failures.push(`No archive: ${body}`);
      for (const archive of archives)
        for (const { name } of await unzip(await attacker.fetchResult(archive)))
          tried(`an entry ${name}`, !/^[^/\\:]+$/.test(name) || /^\.+$/.test(name));
      return { figure: `${failures.length} of ${attempts}`, failures };
    }),
};

/** Returns a PDF with a file attached under each name. */
function hostilePdf(): Buffer {
  const written = NAMES.map((name) => `(${name.replace(/[\\()]/g, '\\$&')})`);
  const first = 4;
  const tree = written.map((name, index) => `${name} ${first + 2 * index} 0 R`).join(' ');
  const files = written.flatMap((name, index) => [
    `<< /Type /Filespec /F ${name} /UF ${name} /EF << /F ${first + 2 * index + 1} 0 R >> >>`,
    `<< /Type /EmbeddedFile /Length 1 >> stream\n${index}\nendstream`,
  ]);
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [${tree}] >> >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>',
    ...files,
  ]);
}
