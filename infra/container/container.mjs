// Plain JavaScript for any Node version from 20 on any system. It needs no packages.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const PROGRAMS = ['docker', 'podman', 'finch'];

/** Returns the first container program on this machine whose engine responds, or `undefined`. */
export function findProgram() {
  return PROGRAMS.find((name) => spawnSync(name, ['version'], { stdio: 'ignore' }).status === 0);
}

/** Builds the image, showing the program's own progress; `target` names a stage of the Containerfile. */
export async function buildImage(program, { target, tag }) {
  const stage = target === undefined ? [] : ['--target', target];
  // Podman's default format has no health check.
  const format = program === 'podman' ? ['--format', 'docker'] : [];
  await run(program, [
    'build',
    ...format,
    '--file',
    'infra/container/Containerfile',
    ...stage,
    '--tag',
    tag,
    '.',
  ]);
}

/** Builds the image and runs the server in it until it is stopped; results and keys are kept in the volume `docmill-data`. */
export async function serveInContainer(program, { port, args }) {
  await buildImage(program, { tag: 'docmill' });
  const limits = ['--read-only', '--tmpfs', '/tmp:rw,exec,size=2g', '--init', '--rm'];
  const terminal = process.stdin.isTTY && process.stdout.isTTY ? ['--interactive', '--tty'] : [];
  const reach = [
    '--publish',
    `127.0.0.1:${port}:${port}`,
    '--env',
    `PORT=${port}`,
    '--volume',
    'docmill-data:/data',
  ];
  const server = ['node', 'infra/local/main.ts', ...args];
  await run(program, ['run', ...limits, ...terminal, ...reach, 'docmill', ...server]);
}

/** Builds what the AWS stack uploads in a container, and copies it to `dist/aws` as the current user. */
export async function buildForAws(program) {
  await buildImage(program, { target: 'aws', tag: 'docmill:aws' });
  const { stdout } = spawnSync(program, ['create', 'docmill:aws'], { encoding: 'utf8' });
  const container = stdout.trim();
  try {
    mkdirSync(join(root, 'dist'), { recursive: true });
    rmSync(join(root, 'dist/aws'), { recursive: true, force: true });
    await run(program, ['cp', `${container}:/docmill/dist/aws`, join(root, 'dist/aws')]);
  } finally {
    spawnSync(program, ['rm', container], { stdio: 'ignore' });
  }
}

/** Runs a program in this terminal. If it fails, this process exits with the same code. */
export function run(command, args, { cwd = root } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: 'inherit' });
    // A terminal sends Ctrl+C to the child as well, which decides when to exit.
    const ignore = () => {};
    const forward = () => child.kill('SIGTERM');
    process.on('SIGINT', ignore).on('SIGTERM', forward);
    child.once('error', (error) => {
      process.stderr.write(`${command} could not be started: ${error.message}\n`);
      process.exit(1);
    });
    child.once('exit', (code) => {
      process.off('SIGINT', ignore).off('SIGTERM', forward);
      if (code === 0) return resolve();
      process.exit(code ?? 1);
    });
  });
}
