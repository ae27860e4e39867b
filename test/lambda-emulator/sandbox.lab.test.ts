import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { processTree, readProcess } from '../../functions/engines/worker/linux/proc.ts';
import { Account } from './account.ts';
import { FunctionPool } from './function-pool.ts';
import { buildHost, type Host, hasProcessorShares, NAMESPACES } from './sandbox.ts';

const possible = spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;
if (!possible)
  console.warn('*** SKIPPED: this machine does not allow user namespaces, which the Lambda emulator needs.');

/** A function that evaluates the expression in its event. */
const CODE = `
import * as fs from 'node:fs';
import * as os from 'node:os';
setInterval(() => {}, 10);
export const handler = async (event, context) => {
  try { return { value: await eval(event.run) }; } catch (error) { return { code: error.code ?? String(error) }; }
};`;

describe.skipIf(!possible)('a sandbox (needs user namespaces)', () => {
  let host: Host;
  let pool: FunctionPool | undefined;
  let folder: string;
  let built: Host;
  beforeAll(async () => {
    built = await buildHost(() => {});
  });
  beforeEach(() => {
    host = built;
  });
  afterEach(() => {
    pool?.cool();
    rmSync(folder, { recursive: true });
  });

  const open = (code = CODE, limits: { memory?: number; timeout?: number; reserved?: number } = {}) => {
    folder = mkdtempSync(join(tmpdir(), 'function-'));
    writeFileSync(join(folder, 'index.mjs'), code);
    const definition = {
      name: 'probe',
      code: folder,
      layers: [{ name: 'tools', folder }],
      environment: { OWN: 'yes' },
    };
    pool = new FunctionPool({ memory: 512, temporary: 16, timeout: 60_000, ...definition, ...limits }, host);
    return async (run: string) => JSON.parse((await pool!.invoke({ run })).body.toString());
  };

  it('has an empty root with C library, Node, code and layers, and nothing of this machine', async () => {
    const run = open();

    expect(await run('fs.readdirSync("/").sort()')).toEqual({
      value: ['dev', 'etc', 'lib', 'lib64', 'opt', 'proc', 'tmp', 'usr', 'var'],
    });
    expect(await run('fs.readdirSync("/opt")')).toEqual({ value: ['tools'] });
    expect(
      await run('fs.existsSync("/bin/sh") || fs.existsSync("/usr/bin") || fs.existsSync("/home")'),
    ).toEqual({ value: false });
  });

  it.each(['/var/task/x', '/opt/x', '/opt/tools/x', '/x', '/etc/x', '/usr/x', '/var/lang/bin/node'])(
    'does not allow a write to %s',
    async (path) => {
      expect((await open()(`fs.writeFileSync(${JSON.stringify(path)}, "")`)).code).toMatch(
        /^(EROFS|EACCES|EPERM|ETXTBSY)$/,
      );
    },
  );

  it('allows writes below /tmp up to its size', async () => {
    const run = open();

    expect(await run('(fs.writeFileSync("/tmp/a", "x"), fs.readFileSync("/tmp/a", "utf8"))')).toEqual({
      value: 'x',
    });
    expect(await run('fs.writeFileSync("/tmp/b", Buffer.alloc(20e6))')).toEqual({ code: 'ENOSPC' });
  });

  it('runs as an unprivileged user that sees no other processes', async () => {
    const run = open();

    expect(await run('[process.getuid(), process.getgid()]')).toEqual({ value: [993, 990] });
    expect(await run('/CapEff:\\s+0+\\n/.test(fs.readFileSync("/proc/self/status", "utf8"))')).toEqual({
      value: true,
    });
    const { value } = await run('fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length');
    expect(value).toBeLessThanOrEqual(3);
  });

  it('sets the variables that Lambda sets, and none of this machine', async () => {
    const { value } = await open()('process.env');

    expect(value).toMatchObject({
      OWN: 'yes',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      _HANDLER: 'index.handler',
    });
    expect(Object.keys(value)).not.toContain('HOME');
  });

  it('is frozen between invocations and reused warm', async () => {
    const run = open();
    await run('1');
    const { root } = pool!.sandboxes[0]!;
    const states = () => processTree(root!).map((pid) => /\) (\w)/.exec(readProcess(pid, 'stat'))?.[1]);

    await expect.poll(() => new Set(states())).toEqual(new Set(['T']));
    expect(await run('1')).toEqual({ value: 1 });
    expect(pool!.started).toBe(1);
  });

  it('scales out when all are busy', async () => {
    const run = open();

    await Promise.all([
      run('new Promise((r) => setTimeout(r, 300))'),
      run('new Promise((r) => setTimeout(r, 300))'),
    ]);

    expect(pool!.started).toBe(2);
  });

  it('rejects a tenant above 2.5 environments for each concurrent execution, idle ones included', async () => {
    open();
    const definition = { name: 'probe', code: folder, layers: [], environment: {}, isolated: true };
    const limits = { memory: 512, temporary: 16, timeout: 60_000 };
    pool = new FunctionPool({ ...definition, ...limits }, host, new Account(2));
    const ask = async (tenant: string) =>
      JSON.parse((await pool!.invoke({ run: '1' }, tenant)).body.toString());

    for (const tenant of ['a', 'b', 'c', 'd', 'e', 'a']) expect(await ask(tenant)).toEqual({ value: 1 });

    await expect(ask('f')).rejects.toMatchObject({ status: 429, type: 'TooManyRequestsException' });
    expect(pool.started).toBe(5);
  });

  it('rejects calls above the reserved concurrency as Lambda does', async () => {
    const run = open(CODE, { reserved: 1 });
    const busy = run('new Promise((r) => setTimeout(r, 300))');

    await expect(run('1')).rejects.toMatchObject({ status: 429, type: 'TooManyRequestsException' });
    await busy;
    expect(await run('1')).toEqual({ value: 1 });
  });

  it('counts connections to its Runtime API by anything but the runtime', async () => {
    const run = open();
    await run('1');
    expect(pool!.visitors).toBe(0);

    await run('fetch("http://" + process.env.AWS_LAMBDA_RUNTIME_API).then(({ status }) => status)');

    expect(pool!.visitors).toBe(1);
  });

  it('is replaced if it was killed while it was frozen, even just before the next event', async () => {
    const run = open();
    await run('1');
    process.kill(processTree(pool!.sandboxes[0]!.root!).at(-1)!, 'SIGKILL');

    expect(await run('1')).toEqual({ value: 1 });
    expect(pool!.started).toBe(2);
  });

  it('ends a function at its timeout and starts a new one', async () => {
    const run = open(CODE, { timeout: 10_000 });

    await expect(run('new Promise(() => {})')).rejects.toMatchObject({ errorType: 'Sandbox.Timedout' });
    expect(await run('1')).toEqual({ value: 1 });
    expect(pool!.started).toBe(2);
  });

  it.skipIf(!hasProcessorShares())(
    'gets the share of a processor that its memory has on Lambda (needs control groups)',
    async () => {
      host = { ...host, processorShares: true };
      // Half of 1769 MiB. A busy machine gives less, and never more.
      const run = open(CODE, { memory: 885 });
      await run('1');

      const { value } = await run(
        '(() => { const from = performance.now(), before = process.cpuUsage(); while (performance.now() - from < 2000); const { user, system } = process.cpuUsage(before); return (user + system) / 2e6; })()',
      );

      expect(value).toBeGreaterThan(0.05);
      expect(value).toBeLessThan(0.65);
    },
  );

  it('ends a function above its memory', async () => {
    const run = open(CODE, { memory: 200 });
    const hoard =
      '(async () => { const all = []; for (;;) { all.push(Buffer.alloc(1e7, 1)); await new Promise((r) => setTimeout(r, 20)); } })()';

    await expect(run(hoard)).rejects.toMatchObject({ errorType: 'Runtime.OutOfMemory' });
  });

  it('starts a function again whose init phase took too long, as part of the first event', async () => {
    const lines: string[] = [];
    host = { ...host, initTime: 1500, log: (line) => lines.push(line) };
    const started = performance.now();

    const result = await open(`await new Promise((resolve) => setTimeout(resolve, 2000));${CODE}`)('1');

    expect(result).toEqual({ value: 1 });
    expect(performance.now() - started).toBeGreaterThan(3500);
    expect(lines).toContain('probe: INIT_REPORT Init Duration: 1500 ms Phase: init Status: timeout');
    expect(pool!.started).toBe(1);
  });

  it('ends a function that does not start within its timeout either', async () => {
    host = { ...host, initTime: 300 };
    const run = open('await new Promise(() => setInterval(() => {}, 1000));', { timeout: 600 });

    await expect(run('1')).rejects.toMatchObject({ errorType: 'Sandbox.Timedout' });
  });

  it('has a limit of 1,024 processes and threads', async () => {
    const limits = 'fs.readFileSync("/proc/self/limits", "utf8")';

    expect((await open()(limits)).value).toMatch(/Max processes +1024 /);
  });

  it('reports a crash', async () => {
    await expect(open()('process.exit(3)')).rejects.toMatchObject({ errorType: 'Runtime.ExitError' });
  });

  it('reports a function that cannot start', async () => {
    await expect(open('throw new Error("no")')('1')).rejects.toMatchObject({ errorType: 'Runtime.Unknown' });
  });
});
