import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  findSandboxGaps,
  fontEnvironment,
  isIncomplete,
  sandboxedNode,
} from '../../../../functions/engines/worker/sandbox.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { build as buildFonts } from '../../../../layers/fonts/build.ts';
import { build } from '../../../../layers/sandbox/build.ts';

const layers = join(import.meta.dirname, '../../../../dist/layers');
const progress = () => undefined;
let temporary: string;
let home: string;

beforeAll(async () => {
  await buildFonts({ into: join(layers, 'fonts'), progress });
  await build({ into: join(layers, 'sandbox'), progress });
  temporary = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
  home = join(temporary, 'home');
  mkdirSync(home);
  mkdirSync(join(temporary, 'conversion-1'));
  writeFileSync(join(temporary, 'conversion-1/source'), 'source');
}, 300_000);

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** Runs a script in the sandbox. Returns its output, or the code of the error that ended it. */
function run(script: string): { answer: string; filesOpen: boolean } {
  const whole = `
    const fs = require('node:fs');
    const answer = (value) => { fs.writeSync(1, String(value)); process.exit(); };
    process.on('uncaughtException', (error) => answer(error.code ?? error.message));
    ${script}`;
  const { command, args, environment } = sandboxedNode({ layers, code: CODE }, ['-e', whole])(home);
  const { stdout, stderr } = spawnSync(command, args, {
    cwd: home,
    env: { PATH: '/usr/bin:/bin', HOME: home, ...environment },
    encoding: 'utf8',
  });
  return { answer: stdout, filesOpen: stderr.includes('no Landlock') };
}

describe('a program in the sandbox', () => {
  it.each([
    ['TCP', "require('node:net').connect(9, '127.0.0.1')"],
    ['TCP over IPv6', "require('node:net').connect(9, '::1')"],
    ['UDP', "require('node:dgram').createSocket('udp4').send('x', 9, '127.0.0.1')"],
    ['a socket of the file system', "require('node:net').connect('/run/socket')"],
    ['a server', "require('node:net').createServer().listen(0, '127.0.0.1')"],
    ['a signal to its parent', 'process.kill(process.ppid, 0)'],
    ['process of its own', 'require("node:child_process").execFileSync(process.execPath, ["-e", ""])'],
  ])('has no %s', (_, script) => {
    const { answer } = run(script);

    expect(answer).toBe('EACCES');
  });

  it.each([
    ['read a file of the system', "fs.readFileSync('/etc/passwd')"],
    ['read the environment of another process', `fs.readFileSync('/proc/${process.pid}/environ')`],
    ['list the conversions', "fs.readdirSync('..')"],
    ['list the project', `fs.readdirSync(${JSON.stringify(join(import.meta.dirname, '../../../..'))})`],
    ['read a conversion that it knows the path of', "fs.readFileSync('../conversion-1/source')"],
    ['write to a conversion', "fs.writeFileSync('../conversion-1/source', '')"],
    ['write beside the conversions', `fs.writeFileSync(${JSON.stringify(join(tmpdir(), 'beside'))}, '')`],
    ['start another program', "require('node:child_process').execFileSync('/bin/sh', ['-c', 'true'])"],
  ])('cannot %s', (_, script) => {
    const { answer, filesOpen } = run(script);

    if (filesOpen) console.warn('SKIPPED: this kernel has no Landlock, so files stay open');
    // Other processes do not even exist for it if /proc is mounted with `hidepid`.
    else expect(answer).toMatch(script.includes('/proc/') ? /^(EACCES|ENOENT)$/ : /^EACCES$/);
  });

  it('reads and writes in its own directory', () => {
    const { answer } = run(`
      fs.mkdirSync('request');
      fs.writeFileSync('request/note', 'own');
      answer(fs.readFileSync('request/note'));`);

    expect(answer).toBe('own');
  });

  it('cannot start any other program', () => {
    const { status } = spawnSync(join(layers, 'sandbox/enter'), [home, '/usr', '--', '/no/program']);
    const { status: bad } = spawnSync(join(layers, 'sandbox/enter'), [home, '/usr']);

    expect([status, bad]).toEqual([4, 2]);
  });
});

describe('the gaps of the sandbox', () => {
  const [PORTS, SIGNALS] = ['connect to any TCP port', 'send signals to processes of the service'];

  it.each([
    ['0 7', { files: false, calls: false, landlock: 7, browser: [] }, false],
    ['0 5', { files: false, calls: false, landlock: 5, browser: [SIGNALS] }, true],
    ['0 2', { files: false, calls: false, landlock: 2, browser: [PORTS, SIGNALS] }, true],
    ['1 0', { files: true, calls: false, landlock: 0, browser: [PORTS, SIGNALS] }, true],
    ['', { files: true, calls: true, landlock: 0, browser: [PORTS, SIGNALS] }, true],
  ])('are those of a kernel for which the launcher prints "%s"', (text, gaps, incomplete) => {
    const folder = join(temporary, 'gaps');
    mkdirSync(join(folder, 'sandbox'), { recursive: true });
    writeFileSync(join(folder, 'sandbox/enter'), `#!/bin/sh\necho ${text}\n`, { mode: 0o755 });

    const found = findSandboxGaps(folder);

    expect(found).toEqual(gaps);
    expect(isIncomplete(found)).toBe(incomplete);
  });
});

describe('the environment of a Node in the sandbox', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('has the libraries that this Node was started with, without which it may not start on Lambda', () => {
    vi.stubEnv('LD_LIBRARY_PATH', '/var/lang/lib:/lib64');

    const { environment } = sandboxedNode({ layers, code: CODE }, [])(home);

    expect(environment).toMatchObject({ LD_LIBRARY_PATH: '/var/lang/lib:/lib64', SANDBOX: 'required' });
  });

  it('allows an incomplete sandbox only with best-effort', () => {
    const { environment } = sandboxedNode({ layers, code: CODE, sandbox: 'best-effort' }, [])(home);

    expect(environment).toMatchObject({ SANDBOX: 'best-effort' });
  });
});

it('points fontconfig at the layer and its caches', () => {
  expect(fontEnvironment('/opt')).toEqual({
    FONTCONFIG_FILE: '/opt/fonts/fonts.conf',
    XDG_CACHE_HOME: '/opt/fonts',
  });
});
