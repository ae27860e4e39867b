// Plain JavaScript for any Node version from 20 on any system. Needs no packages.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '../local/node-options.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const PROGRAMS = ['docker', 'podman', 'finch'];
/** The platform of the image. Other processors, such as Apple's, emulate it. */
const PLATFORM = ['--platform', 'linux/amd64'];

/** Settings that are passed to the server from this environment. The others concern this machine or its network. */
export const PASSED_SETTINGS = [
  ...['PUBLIC_URL', 'API_KEY', 'CONCURRENCY', 'QUEUE', 'CONVERSION_TIME', 'STOP_TIME', 'SETTLE_TIME'],
  ...['JOBS', 'JOB_TIME', 'MAX_QUEUED_JOBS'],
  ...['MAX_SOURCE_MB', 'MAX_RESULT_MB', 'ACCOUNT_STORAGE', 'RESULT_LIFE', 'URL_LIFETIME'],
  ...['LIMIT_PER_MINUTE', 'LIMIT_PER_MONTH', 'LIMIT_CONCURRENT', 'DEMO', 'DEMO_PER_ADDRESS', 'DEMO_PER_HOUR'],
  ...['ALLOW_SOURCES', 'DNS_SERVERS', 'OWN_HOSTS', 'CORS_ORIGINS', 'ACCOUNT_URL', 'SUPPORT_URL'],
  ...[
    'LOCALE',
    'WARM_MEMORY',
    'TRUSTED_PROXIES',
    'LOG_FORMAT',
    'LOG_LEVEL',
    'LOG_IP',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'SANDBOX',
    'SITE',
    'SIGN_UP',
    'SMTP_URL',
    'MAIL_FROM',
  ],
  ...['OPENID_ISSUER', 'OPENID_CLIENT_ID', 'OPENID_CLIENT_SECRET', 'OPENID_NAME'],
];

/** Variables with which the AWS SDK finds and opens buckets. */
const AWS_VARIABLES = [
  ...['AWS_ENDPOINT_URL_S3', 'AWS_REGION'],
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
];

/** Returns the first container program on this machine whose engine responds, or `undefined`. */
export function findProgram() {
  return PROGRAMS.find((name) => spawnSync(name, ['version'], { stdio: 'ignore' }).status === 0);
}

/** Builds the image and shows the program's own progress. `target` names a stage of the Containerfile. */
async function buildImage(program, options) {
  await run(program, buildArguments(program, { ...options, environment: process.env }));
}

/** Returns the arguments that build the image. */
export function buildArguments(program, { target, tag, isFresh = false, environment }) {
  return [
    ...['build', ...PLATFORM],
    ...(isFresh ? ['--no-cache'] : []),
    // Podman's default format does not support health checks.
    ...(program === 'podman' ? ['--format', 'docker'] : []),
    ...['--file', 'infra/container/Containerfile'],
    ...(target === undefined ? [] : ['--target', target]),
    ...(environment.DEBIAN_MIRROR ? ['--build-arg', 'DEBIAN_MIRROR'] : []),
    ...['--tag', tag, '.'],
  ];
}

/**
 * Builds the image and runs the server in it until it is stopped. Results and keys are kept in the volume
 * `docmill-data`.
 */
export async function serveInContainer(program, args) {
  await buildImage(program, { tag: 'docmill' });
  const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
  await run(program, runArguments({ environment: process.env, isTerminal, args }));
}

/**
 * Returns the arguments that run the server. Values in the environment are passed by name, so that no command line
 * shows a key.
 */
export function runArguments({ environment, isTerminal, args }) {
  const port = environment.PORT ?? '3000';
  const settings = [...PASSED_SETTINGS, ...AWS_VARIABLES].filter((name) => environment[name] !== undefined);
  return [
    ...['run', ...PLATFORM, '--rm', '--name', 'docmill'],
    ...['--read-only', '--tmpfs', '/tmp:rw,exec,size=2g', '--volume', 'docmill-data:/data'],
    ...(isTerminal ? ['--interactive', '--tty'] : []),
    ...['--publish', `127.0.0.1:${port}:${port}`, '--env', `PORT=${port}`],
    ...settings.flatMap((name) => ['--env', name]),
    ...['docmill', 'node', ...NODE_OPTIONS, 'infra/local/main.ts', ...args],
  ];
}

/** Builds the artifacts of the AWS stack in a container, and copies them to `dist/aws` as the current user. */
export async function buildForAws(program, { isFresh }) {
  await buildImage(program, { target: 'aws', tag: 'docmill:aws', isFresh });
  const { stdout } = spawnSync(program, ['create', ...PLATFORM, 'docmill:aws'], { encoding: 'utf8' });
  const container = stdout.trim();
  try {
    mkdirSync(join(root, 'dist'), { recursive: true });
    rmSync(join(root, 'dist/aws'), { recursive: true, force: true });
    // The path is relative, because a drive letter would look like the name of a container.
    await run(program, ['cp', `${container}:/docmill/dist/aws`, 'dist/aws']);
  } finally {
    spawnSync(program, ['rm', container], { stdio: 'ignore' });
  }
}

/**
 * Runs a program in this terminal. If it fails, this process exits with the same code. With `ownSession`, it does not
 * compete with other programs in the terminal's session, and gets an IPC channel that closes when this process exits.
 */
export function run(command, args, { cwd = root, ownSession = false } = {}) {
  return new Promise((resolve) => {
    const stdio = ['inherit', 'inherit', 'inherit', ...(ownSession ? ['ipc'] : [])];
    const child = spawn(command, args, { cwd, stdio, detached: ownSession });
    // A terminal sends Ctrl+C to the child as well, unless the child has its own session. The child decides when to
    // exit.
    const interrupt = () => ownSession && child.kill('SIGINT');
    const forward = () => child.kill('SIGTERM');
    process.on('SIGINT', interrupt).on('SIGTERM', forward);
    child.once('error', (error) => {
      process.stderr.write(`${command} could not be started: ${error.message}\n`);
      process.exit(1);
    });
    child.once('exit', (code) => {
      process.off('SIGINT', interrupt).off('SIGTERM', forward);
      if (code === 0) return resolve();
      process.exit(code ?? 1);
    });
  });
}
