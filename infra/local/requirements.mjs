// Plain JavaScript, because it runs on any Node from version 20, before any package is installed.
import { accessSync, constants, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { delimiter, join } from 'node:path';

const GB = 1e9;
/** Bytes of memory: two browsers and LibreOffice are kept running. A machine with 2 GB reports a little less. */
const MEMORY = 1.8 * GB;
/** Bytes of disk: packages 0.9 GB, engines 0.6 GB, downloads 0.2 GB, and unpacked packages while an engine is built. */
const DISK = 3 * GB;

/** They read any Debian mirror, on any distribution that has them. */
const PROGRAMS = ['apt-get', 'dpkg-deb'];

/**
 * Measures the memory and disk space of the machine or the container. `directory` is where packages and engines are
 * installed.
 */
export function measureMachine(directory) {
  const { bavail, bsize } = statfsSync(directory);
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return {
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    memory: Math.min(totalmem(), limit),
    disk: bavail * bsize,
    directory,
  };
}

/** Returns why docmill cannot run on a machine, or `undefined`. */
export function unmetRequirement({ platform, arch, node, memory }) {
  if (platform !== 'linux') return `docmill needs Linux; this is ${platform}.`;
  if (arch !== 'x64')
    return `docmill needs x86-64, because Chromium is only available for it; this is ${arch}.`;
  if (Number(node.split('.')[0]) < 20) return `docmill needs Node 20 or newer; this is v${node}.`;
  if (memory < MEMORY) return `docmill needs 2 GB of memory; this machine has ${inGB(memory)}.`;
  return undefined;
}

/** Returns why packages and engines cannot be installed, or `undefined`. */
export function unmetSpace({ disk, directory }) {
  if (disk >= DISK) return undefined;
  return `The set-up needs 3 GB of free disk space in ${directory}, but only ${inGB(disk)} are free. Free some space, or set BUILD_DIR to a directory on another disk.`;
}

/** Returns which programs that unpack the engines are missing in `path`, and what to do, or `undefined`. */
export function unmetPrograms(path) {
  const missing = PROGRAMS.filter(
    (name) => !path.split(delimiter).some((folder) => isProgram(join(folder, name))),
  );
  if (missing.length === 0) return undefined;
  return `The engines are unpacked from Debian packages, which needs ${missing.join(' and ')}. Install the packages apt and dpkg, or run 'npm start -- --container'.`;
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function inGB(bytes) {
  return `${(bytes / GB).toFixed(1)} GB`;
}
