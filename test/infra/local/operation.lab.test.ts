import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseYaml } from '@redocly/openapi-core';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { SETTINGS } from '../../../infra/local/definitions.ts';
import { freePort } from '../../helpers/free-port.ts';
import { isInstalled } from '../../helpers/processes.ts';
import { API_KEY, startServer } from './server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'infra/local/operation');
const GUIDE = readFileSync(join(FOLDER, 'README.md'), 'utf8');

/** Returns the content of the only block of the guide that begins with this line and contains a text. */
function block(kind: string, part = ''): string {
  const all = [...GUIDE.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)];
  const found = all.filter(([, name, content]) => name === kind && content!.includes(part));
  expect(found.map(([, name]) => name)).toEqual([kind]);
  return found[0]![2]!;
}

function directoryFor(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), name));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  return directory;
}

/** Runs a test that needs programs. Its title says which are not installed, if so. */
function itWith(
  programs: readonly string[],
  title: string,
  test: () => Promise<void>,
  timeout?: number,
): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) it(title, test, timeout);
  else it.skip(`${title} (SKIPPED: install ${missing.join(', ')})`, test);
}

itWith(['nginx', 'openssl'], 'nginx passes on uploads of 20 MB and the refusals of the service', async () => {
  const directory = directoryFor('nginx-');
  const server = await startServer({ settings: { MAX_SOURCE_MB: '30' } });
  onTestFinished(() => server.close());
  const port = await freePort();
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const subject = ['-nodes', '-days', '1', '-subj', '/CN=convert.example.com'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', certificate, ...subject],
    {
      stdio: 'ignore',
    },
  );
  const own = readFileSync(join(FOLDER, 'nginx.conf'), 'utf8')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    .replace('http://127.0.0.1:3000', server.base.replace('localhost', '127.0.0.1'));
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${directory}/pid; error_log stderr; events {} http { ${folders.join(' ')}\n${own} }`,
  );
  expect(spawnSync('nginx', ['-t', '-c', file], { encoding: 'utf8' }).stderr).toContain('test is successful');
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    nginx.kill('SIGQUIT');
    await once(nginx, 'exit');
  });
  await expect
    .poll(() => spawnSync('curl', ['-sko', '/dev/null', `https://127.0.0.1:${port}/`]).status)
    .toBe(0);

  const send = async (body: Buffer, headers = {}) => {
    const path = `/api/?apikey=${API_KEY}&app=imageproc&outfile=a.jpg&-resize=9x9`;
    const call = { port, path, method: 'POST', rejectUnauthorized: false };
    const sent = request({ ...call, headers: { 'Content-Type': 'image/png', ...headers } });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  const side = 2600;
  const noise = { type: 'gaussian', mean: 128, sigma: 90 } as const;
  const picture = await sharp({
    create: { width: side, height: side, channels: 3, background: '#000', noise },
  })
    .png({ compressionLevel: 1 })
    .toBuffer();
  expect(picture.length).toBeGreaterThan(19e6);

  const large = await send(picture);
  const tooLarge = await send(Buffer.alloc(31e6), { Accept: 'application/json' });

  expect([large.status, large.body]).toEqual([200, expect.stringMatching(/^\[Output\] /)]);
  expect([tooLarge.status, JSON.parse(tooLarge.body)]).toMatchObject([413, { code: 'SOURCE_TOO_LARGE' }]);
});

itWith(['promtool'], 'Prometheus reads the scrape configuration and the alerts', async () => {
  const file = join(directoryFor('prometheus-'), 'prometheus.yml');
  writeFileSync(file, `${block('yaml', 'scrape_configs')}rule_files: ["${FOLDER}/alerts.yaml"]\n`);

  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' });

  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
});

itWith(['caddy'], 'Caddy reads its configuration', async () => {
  const file = join(directoryFor('caddy-'), 'Caddyfile');
  writeFileSync(file, block('', 'reverse_proxy'));

  expect(spawnSync('caddy', ['validate', '--config', file]).status).toBe(0);
});

itWith(['systemd-analyze'], 'systemd reads the units, which expose little', async () => {
  const directory = directoryFor('systemd-');
  const service = readFileSync(join(FOLDER, 'docmill.service'), 'utf8')
    .replace(/^ExecStart=.*/m, 'ExecStart=/bin/true')
    .replace('[Unit]', '[Unit]\nRequires=docmill.socket');
  const socket = block('ini', '[Socket]');
  const [unit, socketUnit] = [join(directory, 'docmill.service'), join(directory, 'docmill.socket')];
  writeFileSync(unit, service);
  writeFileSync(socketUnit, socket);

  const verified = spawnSync('systemd-analyze', ['verify', unit, socketUnit], { encoding: 'utf8' });
  const exposure = ['security', '--offline=true', '--threshold=40', unit];
  const judged = spawnSync('systemd-analyze', exposure, { encoding: 'utf8' });

  expect([verified.status, verified.stderr.match(/docmill.*/g)]).toEqual([0, null]);
  expect([judged.status, judged.stdout]).toEqual([0, expect.stringMatching(/exposure level .*: [0-3]\.\d/)]);
});

it('the compose file has the services and settings that exist', () => {
  const { services, volumes } = parseYaml(
    readFileSync(join(ROOT, 'infra/container/compose.yaml'), 'utf8'),
  ) as {
    services: Record<string, { environment?: object; volumes: readonly string[] }>;
    volumes: object;
  };
  const used = Object.values(services).flatMap((service) =>
    service.volumes.map((each) => each.split(':')[0]),
  );

  expect(Object.keys(services.docmill!.environment!).filter((name) => !(name in SETTINGS))).toEqual([]);
  expect(used.toSorted()).toEqual(Object.keys(volumes).toSorted());
});

/**
 * Stands in for systemd, which cannot run here: starts the command of the unit as its user and with its settings, and stops it
 * as `KillMode=mixed` does.
 */
const SYSTEMCTL = `#!/bin/sh
unit=/etc/systemd/system/docmill.service
get() { sed -n "s/^$1=//p" $unit; }
start() {
  user=$(get User)
  install -d -o $user -m $(get StateDirectoryMode) /var/lib/$(get StateDirectory)
  cd $(get WorkingDirectory) || exit 1
  setsid env -i PATH=/usr/bin:/bin SANDBOX=best-effort $(grep -v '^#' $(get EnvironmentFile)) \\
    setpriv --reuid $user --regid $user --clear-groups --no-new-privs $(get ExecStart) > /var/lib/log 2>&1 &
  echo $! > /run/docmill.pid
}
stop() { pid=$(cat /run/docmill.pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.2; done; }
case "$1" in
  daemon-reload) ;;
  enable | start) start ;;
  disable | stop) stop ;;
  restart) stop; start ;;
  *) exit 1 ;;
esac
`;

/** Runs commands as root on a machine whose /etc, /opt, /var/lib, /run and network belong to them alone. */
const EMPTY_MACHINE = `set -e
ip link set lo up
cp -a /etc "$1/etc"
mkdir -p "$1/opt" "$1/lib" "$1/run" "$1/backup" "$1/bin"
chmod 755 "$1"
for folder in etc opt run; do mount --bind "$1/$folder" /$folder; done
mount --bind "$1/lib" /var/lib
mkdir -p /etc/systemd/system
cp "$1/systemctl" "$1/bin/"
export PATH="$1/bin:$PATH"
cd "$1"
. ./script
`;

const isRoot = process.getuid?.() === 0;
itWith(
  isRoot ? ['unshare', 'useradd', 'runuser', 'curl', 'ip'] : ['root'],
  'installs, backs up, upgrades, rolls back and removes the service on an empty machine, without a network',
  async () => {
    const directory = directoryFor('machine-');
    execFileSync(process.execPath, ['infra/release/bundle.ts', '--directory'], {
      cwd: ROOT,
      stdio: 'ignore',
    });
    const packed = join(ROOT, 'dist/bundle');
    for (const version of ['0.1.0', '0.2.0'])
      execFileSync('tar', [
        ...['-C', packed, `--transform=s/^docmill/docmill-${version}/`, '--use-compress-program=gzip -1'],
        ...['-cf', join(directory, `docmill-${version}-linux-x64.tar.gz`), 'docmill'],
      ]);
    const commands = ['install', 'backup', 'upgrade', 'rollback', 'remove'].map((name) =>
      block(`sh ${name}`),
    );
    const [install, backup, upgrade, rollback, remove] = commands.map((each) =>
      each.replaceAll('/backup', '$PWD/backup'),
    );
    const say = (name: string) =>
      `echo "== ${name}: $(readlink /opt/docmill) $(runuser -u docmill -- env DATA_DIR=/var/lib/docmill /opt/docmill/keys list | grep -c key_)"\n`;
    const another =
      'runuser -u docmill -- env DATA_DIR=/var/lib/docmill /opt/docmill/keys create --name later\n';
    writeFileSync(join(directory, 'systemctl'), SYSTEMCTL, { mode: 0o755 });
    writeFileSync(
      join(directory, 'script'),
      [
        ...[
          install,
          say('installed'),
          backup,
          another,
          upgrade,
          say('upgraded'),
          rollback,
          say('rolled back'),
        ],
        ...[
          'ls -l /etc/docmill.env\n',
          remove,
          'echo "== left: $(ls /opt /var/lib/docmill 2>&1)"\nid docmill || true\n',
        ],
      ].join('\n'),
    );

    const { status, stdout, stderr } = spawnSync(
      'unshare',
      [
        '--mount',
        '--net',
        '--pid',
        '--fork',
        '--mount-proc',
        '--kill-child',
        'sh',
        '-c',
        EMPTY_MACHINE,
        'sh',
        directory,
      ],
      { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } },
    );

    expect([status, stderr]).toEqual([0, expect.stringMatching(/id: .*docmill.* no such user/)]);
    // The server has created the first key, and the operator the second.
    expect(stdout).toContain('== installed: docmill-0.1.0 2\n');
    expect(stdout).toContain('== upgraded: docmill-0.2.0 3\n');
    expect(stdout).toContain('== rolled back: docmill-0.1.0 2\n');
    expect(stdout).toMatch(/-rw------- 1 root root .* \/etc\/docmill\.env/);
    expect(stdout).toMatch(/== left: ls: cannot access '\/var\/lib\/docmill'.*\n\/opt:\n/);
    expect(stdout.match(/^(\w+) .* ms .* http:/gm)).toHaveLength(5);
  },
  // It packs and unpacks 2 GB.
  900_000,
);
