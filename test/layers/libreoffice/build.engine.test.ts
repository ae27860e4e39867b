import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostRequest, hostCommand, urlOf } from '../../../functions/engines/office/host.ts';
import type { Request } from '../../../functions/engines/protocol.ts';
import { findSandboxGaps } from '../../../functions/engines/worker/sandbox.ts';
import { runCommand } from '../../../layers/build/command.ts';
import { build as buildFonts } from '../../../layers/fonts/build.ts';
import { build } from '../../../layers/libreoffice/build.ts';

const layers = join(import.meta.dirname, '../../../dist/layers');
const layer = join(layers, 'libreoffice');
const document = join(import.meta.dirname, '../../fixtures/office/text.docx');
const progress = () => undefined;
const done = (request: number) => ({ id: request, result: { sheets: 0, shown: [] } });
let directory: string;
let id = 0;
let host: ChildProcess;
let answers: AsyncIterator<string>;

beforeAll(async () => {
  await buildFonts({ into: join(layers, 'fonts'), progress });
  await build({ into: layer, progress });
  directory = await mkdtemp(join(tmpdir(), 'libreoffice-test-'));
  const home = join(directory, 'home');
  await mkdir(home);
  const { command, args, environment } = hostCommand({ layers })(home);
  host = spawn(command, args, {
    env: { HOME: home, TMPDIR: home, ...environment },
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  answers = createInterface({ input: host.stdio[3] as Readable })[Symbol.asyncIterator]();
  expect(await next()).toEqual({ ready: true });
}, 300_000);

afterAll(async () => {
  host.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

async function next() {
  return JSON.parse((await answers.next()).value);
}

async function ask(source: string, folder = join(directory, 'home')) {
  const given: HostRequest = {
    source: urlOf(basename(source)),
    target: urlOf('result.pdf'),
    load: 'Batch=true',
    filter: 'pdf',
    save: '',
  };
  id += 1;
  const request: Request = { id, operation: 'convert', arguments: given, directory: folder };
  host.stdin!.write(`${JSON.stringify(request)}\n`);
  return next();
}

describe('the libreoffice layer', () => {
  it('names version, hash and license of every package', async () => {
    const manifest: Array<Record<string, unknown>> = JSON.parse(
      await readFile(join(layer, 'manifest.json'), 'utf8'),
    );

    expect(manifest.find(({ name }) => name === 'libreoffice-core-nogui')).toMatchObject({
      version: expect.stringMatching(/^4:25\.2\./),
      licenses: expect.arrayContaining(['MPL-2.0']),
    });
    for (const { sha256 } of manifest) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('needs no library of the machine', async () => {
    const [program, lib] = [join(layer, 'program'), join(layer, 'lib')];
    const names = (await readdir(program)).filter((name) => /\.so(\.\d+)?$|^host$/.test(name));
    const loader = join(lib, (await readdir(lib)).find((name) => name.startsWith('ld-linux'))!);

    const found: string[] = [];
    for (const name of names) {
      const listed = await runCommand(loader, [
        '--library-path',
        `${program}:${lib}`,
        '--list',
        join(program, name),
      ]);
      found.push(...[...listed.matchAll(/=> (\S+)/g)].map(([, file]) => file!));
    }

    expect(found.length).toBeGreaterThan(1000);
    expect(found.filter((file) => !file.startsWith(layer))).toEqual([]);
  });

  it('contains no link that points outside', async () => {
    const entries = await readdir(layer, { recursive: true, withFileTypes: true });

    const links = entries.filter((entry) => entry.isSymbolicLink());
    for (const link of links) await expect(stat(join(link.parentPath, link.name))).resolves.toBeDefined();
    expect(entries.length).toBeGreaterThan(500);
  });
});

describe('the host', () => {
  it('converts documents, one after the other', async () => {
    const source = join(directory, 'home/document.docx');
    await copyFile(document, source);

    const replies = [await ask(source), await ask(source)];

    expect(replies).toEqual([done(1), done(2)]);
    const pdf = await readFile(join(directory, 'home/result.pdf'), 'latin1');
    expect(pdf.slice(0, 5)).toBe('%PDF-');
  });

  it('builds no bars and no sidebar for documents that nobody sees', async () => {
    await ask(join(directory, 'home/document.docx'));
    const settings = join(directory, 'home/profile/user/registrymodifications.xcu');
    // LibreOffice saves what it shows a moment after the document is closed.
    const saved = await expect
      .poll(() => readFile(settings, 'utf8'), { timeout: 60_000, interval: 200 })
      .toContain('SplitWindow')
      .then(() => readFile(settings, 'utf8'));

    expect(saved).not.toContain('private:resource/');
    expect(saved).not.toMatch(/10336'\]\/UserData/);
  });

  it('continues after a damaged document', async () => {
    const source = join(directory, 'home/none.docx');
    await copyFile(join(document, '../damaged.docx'), source);

    const reply = await ask(source);

    expect(reply).toMatchObject({ error: { code: 'CORRUPT_SOURCE' } });
    expect(await ask(join(directory, 'home/document.docx'))).toEqual(done(id));
  });

  it('runs with a system call filter that cannot be removed', async () => {
    const status = await readFile(`/proc/${host.pid}/status`, 'utf8');

    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    // A system call filter.
    expect(status).toMatch(/^Seccomp:\s*2$/m);
  });

  it('leaves no core file', async () => {
    const limits = await readFile(`/proc/${host.pid}/limits`, 'utf8');

    expect(limits).toMatch(/^Max core file size\s+0\s+0\s/m);
  });

  it('exits with its parent, even if it is stopped', async () => {
    const home = join(directory, 'orphan');
    await mkdir(home);
    const { command, args, environment } = hostCommand({ layers })(home);
    const options = {
      env: { HOME: home, TMPDIR: home, ...environment },
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    };
    const script = `const child = require('node:child_process').spawn(${JSON.stringify(command)}, ${JSON.stringify(args)},
      ${JSON.stringify(options)}); child.stdio[3].once('data', () => { child.kill('SIGSTOP'); console.log(child.pid); });`;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const orphan = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (text) => resolve(Number(text)));
    });

    parent.kill('SIGKILL');

    await expect.poll(() => readFile(`/proc/${orphan}/cmdline`, 'utf8').catch(() => '')).toBe('');
  });

  it('can open only its own files and its layers', async ({ skip }) => {
    if (findSandboxGaps(layers).files) skip('This kernel has no Landlock.');
    const outside = join(directory, 'outside.docx');
    await copyFile(document, outside);

    const reply = await ask(outside, directory);

    expect(reply).toMatchObject({ error: { code: 'CORRUPT_SOURCE' } });
  });
});
