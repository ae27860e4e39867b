// A sandboxed worker that runs any action in a request, as a worker that a hostile file has compromised would.
import { execFileSync, type SpawnSyncOptionsWithStringEncoding, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import { connect, createServer } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { serveRequests } from '../../../../functions/engines/worker/serve.ts';

/** What the attack knows, which is more than a real one could find out. */
export interface Target {
  /** Directory of another account's conversion, with a file `source`. */
  readonly victim: string;
  readonly victimHome: string;
  readonly victimPid: number;
  readonly temporary: string;
  readonly data: string;
  readonly layers: string;
}

export interface Attack {
  readonly attack: string;
  readonly target: Target;
}

const BIG = 5 * 2 ** 30;

/** Each attack returns if it succeeded and throws if it did not. */
export const ATTACKS: Readonly<Record<string, (target: Target) => unknown>> = {
  "read another account's source": ({ victim }) => fs.readFileSync(`${victim}/source`),
  "overwrite another account's source": ({ victim }) => fs.writeFileSync(`${victim}/source`, 'forged'),
  "create a file in another account's directory": ({ victim }) =>
    fs.writeFileSync(`${victim}/image.png`, 'forged'),
  "delete another account's source": ({ victim }) => fs.unlinkSync(`${victim}/source`),
  "rename another account's directory": ({ victim }) => fs.renameSync(victim, 'stolen'),
  "list another account's directory": ({ victim }) => fs.readdirSync(victim),
  'list all conversions': ({ temporary }) => fs.readdirSync(temporary),
  "write to another engine's home": ({ victimHome }) => fs.writeFileSync(`${victimHome}/x`, ''),
  'make a hard link to a foreign file': ({ victim }) => fs.linkSync(`${victim}/source`, 'link'),
  'make a symbolic link': ({ victim }) => fs.symlinkSync(victim, 'link'),
  'make a symbolic link to the keys': ({ data }) => fs.symlinkSync(data, 'keys'),
  'create a file beside its own directory': () => fs.writeFileSync('../planted', ''),
  'replace its own directory': () => fs.renameSync(process.cwd(), `${process.cwd()}.old`),
  'move a file out of its own directory': () => {
    fs.writeFileSync('moved', '');
    fs.renameSync('moved', '../moved');
  },
  'watch for new conversions': async ({ temporary }) => {
    const watcher = fs.watch(temporary);
    await Promise.race([once(watcher, 'error').then(([error]) => Promise.reject(error)), setTimeout(200)]);
    watcher.close();
  },
  "change a foreign file's mode": ({ victim }) => fs.chmodSync(`${victim}/source`, 0o777),
  "change a foreign file's times": ({ victim }) => fs.utimesSync(`${victim}/source`, 1, 1),
  "change a foreign directory's owner": ({ victim }) => fs.chownSync(victim, 65_534, 65_534),
  'change the mode of its own file': () => {
    fs.writeFileSync('own', '');
    fs.chmodSync('own', 0o777);
  },
  'cut a foreign file short': ({ victim }) => fs.truncateSync(`${victim}/source`),
  'fill the disk': () => {
    fs.writeFileSync('big', '');
    fs.truncateSync('big', BIG);
  },
  'hide files in a directory that its owner cannot list': () => fs.mkdirSync('hidden', 0o300),
  'make a file without a name': () => fs.openSync('.', 0o20200000 | fs.constants.O_WRONLY),
  'read the keys': ({ data }) => fs.readFileSync(`${data}/docmill.db`),
  'read a file of the system': () => fs.readFileSync('/etc/passwd'),
  'list processes': () => fs.readdirSync('/proc'),
  "read another engine's environment": ({ victimPid }) => fs.readFileSync(`/proc/${victimPid}/environ`),
  "read another engine's memory": ({ victimPid }) => fs.openSync(`/proc/${victimPid}/mem`, 'r'),
  "follow another engine's open files": ({ victimPid }) => fs.readlinkSync(`/proc/${victimPid}/cwd`),
  'read the environment of the service': () => fs.readFileSync(`/proc/${process.ppid}/environ`),
  'signal another engine': ({ victimPid }) => process.kill(victimPid, 0),
  'signal the service': () => process.kill(process.ppid, 0),
  'signal every process': () => process.kill(-1, 0),
  "change another engine's priority": ({ victimPid }) => setPriority(victimPid, 19),
  'raise its own priority': () => setPriority(0, -5),
  'start a program': () => execFileSync('/bin/true'),
  'start this program again': () => execFileSync(process.execPath, ['--version']),
  'start a process in another session': () => {
    const code =
      "console.log(require('fs').readFileSync('/proc/self/stat', 'latin1').split(' ')[5] === String(process.pid))";
    const options = { detached: true, encoding: 'utf8' } as SpawnSyncOptionsWithStringEncoding;
    const { stdout, error } = spawnSync(
      process.execPath,
      ['--openssl-config=/dev/null', '-e', code],
      options,
    );
    if (!stdout?.includes('true')) throw error ?? new Error('It stayed in this session.');
  },
  'connect by TCP': () => once(connect(9, '127.0.0.1'), 'connect'),
  'send a datagram': async () => {
    const socket = createSocket('udp4');
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
    socket.send('x', 53, '127.0.0.1');
    await Promise.race([failed, once(socket, 'listening')]);
  },
  'listen for others': async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  },
  'change a layer': ({ layers }) => fs.writeFileSync(`${layers}/fonts/manifest.json`, ''),
  'change our code': () => fs.writeFileSync(import.meta.filename, ''),
  'leave a file in shared memory': () => fs.writeFileSync('/dev/shm/note', ''),
  'leave a file in /tmp': () => fs.writeFileSync('/tmp/note', ''),
};

if (process.argv.includes('--serve')) {
  // The directory that it may write to, if that is not the worker's home.
  const own = process.argv[process.argv.indexOf('--serve') + 1] ?? process.cwd();
  await serveRequests<{ attack: Attack }>({
    attack: async ({ attack, target }) => {
      process.chdir(own);
      try {
        await ATTACKS[attack]!(target);
        return { worked: true };
      } catch (error) {
        return { worked: false, code: (error as NodeJS.ErrnoException).code ?? String(error) };
      }
    },
  });
}
