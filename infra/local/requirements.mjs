// Plain JavaScript, because it runs on any Node version from 20, before any package is installed.
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { totalmem } from 'node:os';
import { delimiter, join } from 'node:path';

const GB = 1e9;
/**
 * Minimum bytes of memory: two browsers and LibreOffice are kept running. A machine with 2 GB reports slightly less.
 */
const MEMORY = 1.8 * GB;
/**
 * Minimum bytes of disk: packages 0.9 GB, engines 0.6 GB, downloads 0.2 GB, and unpacked packages while an engine is
 * built.
 */
const DISK = 3 * GB;

/** The oldest version of glibc that Node's own binaries for Linux support. */
const GLIBC = [2, 28];

/**
 * Kernel settings that can deny user namespaces to ordinary users, with the value that denies and the value that
 * allows them.
 */
const NAMESPACE_SETTINGS = [
  // Ubuntu, from 23.10.
  ['kernel/apparmor_restrict_unprivileged_userns', '1', '0'],
  // Hardened kernels of Debian and Arch.
  ['kernel/unprivileged_userns_clone', '0', '1'],
  ['user/max_user_namespaces', '0', '10000'],
];

/**
 * Programs that read any Debian mirror, on any distribution that has them. Newer versions of apt verify signatures
 * with `sqv`.
 */
const PROGRAMS = [
  { name: 'apt-get', package: 'apt' },
  { name: 'dpkg-deb', package: 'dpkg' },
  { name: 'gpgv', package: 'gpgv', others: ['sqv'] },
];

/** Returns the usual name of a platform of Node. */
export function systemName(platform) {
  return { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[platform] ?? platform;
}

/**
 * Measures the memory and disk space of the machine or the container. Packages and engines are installed in
 * `directory`.
 */
export function measureMachine(directory) {
  const { bavail, bsize } = statfsSync(directory);
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return {
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    // Absent on musl.
    glibc: process.platform === 'linux' ? process.report.getReport().header.glibcVersionRuntime : undefined,
    memory: Math.min(totalmem(), limit),
    disk: bavail * bsize,
    directory,
  };
}

/** Advice for a Linux on which the engines run only in a container. */
const IN_CONTAINER = "run 'npm start -- --container'";

/** Returns why docmill cannot run on a machine, or `undefined` if it can. */
export function unmetRequirement({ platform, arch, node, glibc, memory }) {
  if (platform !== 'linux') return `docmill needs Linux; this is ${systemName(platform)}.`;
  if (arch !== 'x64')
    return `docmill needs x86-64, because Chromium is only available for it; this is ${arch}.`;
  if (Number(node.split('.')[0]) < 20) return `docmill needs Node 20 or newer; this is v${node}.`;
  const unmet = unmetLibrary({ glibc });
  if (unmet !== undefined) return unmet;
  if (memory < MEMORY) return `docmill needs 2 GB of memory; this machine has ${inGB(memory)}.`;
  return undefined;
}

/** Returns why Node's own binaries do not run on this Linux, and what to do, or `undefined` if they do. */
export function unmetLibrary({ glibc }, instead = IN_CONTAINER) {
  if (isGlibcSupported(glibc)) return undefined;
  return `docmill needs glibc ${GLIBC.join('.')} or newer; this Linux has ${glibc ?? 'another C library'}. ${sentence(instead)}`;
}

/** Returns why Chromium cannot start with its own sandbox, and the command to type, or `undefined` if it can. */
export function unmetNamespaces({ isRoot, sandbox }, settings = '/proc/sys') {
  // Root always runs Chromium without its sandbox, and an operator who sets SANDBOX has already decided.
  if (isRoot || sandbox) return undefined;
  const denied = NAMESPACE_SETTINGS.find(([name, value]) => readSetting(join(settings, name)) === value);
  if (denied === undefined) return undefined;
  const [name, , allowed] = denied;
  return `Chromium's own sandbox needs user namespaces, which this machine denies to ordinary users. Run 'sudo sysctl -w ${name.replace('/', '.')}=${allowed}' to allow them, or start docmill with SANDBOX=best-effort to run Chromium without it.`;
}

/** Returns why packages and engines cannot be installed, or `undefined` if they can. */
export function unmetSpace({ disk, directory }) {
  if (disk >= DISK) return undefined;
  return `The set-up needs 3 GB of free disk space in ${directory}, but only ${inGB(disk)} are free. Free some space, or set BUILD_DIR to a directory on another disk.`;
}

/**
 * Returns which programs for unpacking the engines are missing in `path`, and what to do, or `undefined` if none are.
 */
export function unmetPrograms(path, instead = IN_CONTAINER) {
  const folders = path.split(delimiter);
  const isFound = (name) => folders.some((folder) => isProgram(join(folder, name)));
  const missing = PROGRAMS.filter(({ name, others = [] }) => ![name, ...others].some(isFound));
  if (missing.length === 0) return undefined;
  const names = listOf(missing.map(({ name }) => name));
  const packages = listOf(missing.map((program) => program.package));
  return `The engines are unpacked from Debian packages, which needs ${names}. Install ${packages}, or ${instead}.`;
}

/**
 * Whether packages and engines are installed in `directory`, in any version. An update needs little additional space.
 */
export function isSetUp(directory) {
  return (
    existsSync(join(directory, 'node_modules/.package-lock.json')) &&
    existsSync(join(directory, 'dist/layers/libreoffice'))
  );
}

/** Lists what the set-up reads, and what it makes. */
const READ = ['package-lock.json', 'layers', 'functions', 'infra/local/setup.mjs'];
const MADE = ['node_modules', 'dist/layers', 'dist/site'];
/** Written after a set-up. */
const STAMP = 'dist/set-up';

/** Records that everything is set up. */
export function markSetUp(directory) {
  writeFileSync(join(directory, STAMP), '');
}

/**
 * Whether nothing has changed since the last set-up. Compares the times at which the file system recorded changes, which no program
 * sets.
 */
export function isUnchanged(directory) {
  const changed = (path) => statSync(path).ctimeMs;
  try {
    const since = changed(join(directory, STAMP));
    const read = READ.flatMap((name) => {
      const path = join(directory, name);
      const names = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : [];
      return [path, ...names.map((each) => join(path, each))];
    });
    return [...read, ...MADE.map((name) => join(directory, name))].every((path) => changed(path) <= since);
  } catch {
    return false;
  }
}

function isGlibcSupported(version) {
  if (version === undefined) return false;
  const [major, minor] = version.split('.').map(Number);
  return major > GLIBC[0] || (major === GLIBC[0] && minor >= GLIBC[1]);
}

function readSetting(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns a text with a capital letter and a full stop. */
export function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function inGB(bytes) {
  return `${(bytes / GB).toFixed(1)} GB`;
}

function listOf(names) {
  return names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
