import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { BUNDLED_FILES } from '../../../infra/release/files.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { buildArguments, PASSED_SETTINGS, runArguments } = await import(
  join(ROOT, 'infra/container/container.mjs')
);
const { NODE_OPTIONS } = await import(join(ROOT, 'infra/local/node-options.mjs'));

describe('the image', () => {
  it('is built for x86-64 on every processor', () => {
    const image = { tag: 'docmill', environment: {} };

    expect(buildArguments('docker', image).join(' ')).toBe(
      'build --platform linux/amd64 --file infra/container/Containerfile --tag docmill .',
    );
    expect(buildArguments('podman', { ...image, target: 'aws' }).join(' ')).toBe(
      'build --platform linux/amd64 --format docker --file infra/container/Containerfile --target aws --tag docmill .',
    );
  });

  it('is built from the mirrors in DEBIAN_MIRROR', () => {
    const environment = { DEBIAN_MIRROR: 'http://mirror.example/debian' };

    expect(buildArguments('docker', { tag: 'docmill', environment }).join(' ')).toContain(
      ' --build-arg DEBIAN_MIRROR ',
    );
    const stages = read('infra/container/Containerfile').split(/^FROM .*$/m);
    const building = stages.filter((stage) => /^RUN node/m.test(stage) && !stage.includes('infra/aws'));
    expect(building.length).toBe(2);
    for (const stage of building) expect(stage).toMatch(/^ARG DEBIAN_MIRROR=""$/m);
  });

  it('starts the server with the options that `npm start` and the unit of systemd use', () => {
    const [last] = [...read('infra/container/Containerfile').matchAll(/^CMD (.+)$/gm)].slice(-1);
    const command = ['node', ...NODE_OPTIONS, 'infra/local/main.ts'];

    expect(JSON.parse(last![1]!)).toEqual(command);
    expect(runArguments({ environment: {}, isTerminal: false, args: [] }).slice(-command.length)).toEqual(
      command,
    );
    expect(read('infra/local/operation/docmill.service')).toContain(
      `ExecStart=/opt/docmill/node_modules/.bin/${command.join(' ')}\n`,
    );
  });

  it('gets every file that it copies', () => {
    const copied = [...read('infra/container/Containerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, sources]) => sources!.split(' ').map((source) => source.split('/')[0]!),
    );
    const included = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name!);

    expect([...new Set(copied)].sort()).toEqual(included.sort());
  });

  it('contains everything that its programs import, and no settings of an operator', async () => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: [
        'infra/local/main.ts',
        'infra/keys/main.ts',
        'infra/convert/main.ts',
        'functions/*/convert.ts',
        'functions/**/worker.ts',
      ],
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
      outdir: 'out',
      packages: 'external',
      logLevel: 'error',
    });
    const { dependencies } = JSON.parse(read('package.json'));
    const packages = Object.values(metafile.inputs)
      .flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => path))
      .filter((path) => !isBuiltin(path) && !path.startsWith('.'))
      .map((path) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));

    expect(
      Object.keys(metafile.inputs).filter((file) => !BUNDLED_FILES.some((path) => file.startsWith(path))),
    ).toEqual([]);
    expect([...new Set(packages)].filter((name) => !(name in dependencies))).toEqual([]);
    expect(read('.dockerignore').split('\n')).toContain('infra/aws/settings.json');
  });
});

describe('the container', () => {
  it('passes each setting of the server, except those about the machine and its network', () => {
    const [, section] = read('infra/local/README.md').split(/^## Settings$/m);
    const table = section!.split(/^## /m)[0]!.matchAll(/^\| `([A-Z_]+)` \|/gm);
    const own = ['PORT', 'HOST', 'DATA_DIR', 'METRICS_PORT', 'DEBIAN_MIRROR', 'BUILD_DIR', 'FONTS'];

    expect([...own, ...PASSED_SETTINGS].sort()).toEqual([...table].map(([, name]) => name!).sort());
  });

  it('publishes PORT on loopback, and shows no value of a setting', () => {
    const environment = { PORT: '8080', API_KEY: 'secret', DEMO: 'off', PATH: '/bin' };
    const args = runArguments({ environment, isTerminal: false, args: ['--check'] }).join(' ');

    expect(args).toContain('--publish 127.0.0.1:8080:8080 --env PORT=8080 --env API_KEY --env DEMO docmill');
    expect(args).toMatch(/ docmill node --max-semi-space-size=16 infra\/local\/main\.ts --check$/);
    expect(args).not.toMatch(/secret|--tty|PATH/);
    expect(runArguments({ environment, isTerminal: true, args: [] })).toContain('--tty');
  });
});
