// Plain JavaScript, because it runs on any Node version from 20, before any package is installed.
import { accessSync, constants, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Files that the server runs, and that packages and engines are installed from. */
const SOURCES = ['package.json', 'package-lock.json', '.npmrc', 'functions', 'infra', 'layers'];

/**
 * Returns the directory to set up and run the server in: the checkout, or a copy of its sources in `buildDirectory`
 * if the checkout is not writable.
 * @throws Error with the setting to change.
 */
export function prepareCheckout(checkout, buildDirectory) {
  // A bundle is complete; see `infra/release/bundle.ts`.
  if (existsSync(join(checkout, 'package.json')) && !existsSync(join(checkout, 'package-lock.json')))
    return checkout;
  if (buildDirectory === undefined || buildDirectory === '') {
    if (!isWritable(checkout))
      throw new Error(
        `${checkout} cannot be written. Set BUILD_DIR to a directory for packages and engines.`,
      );
    return checkout;
  }
  const directory = resolve(buildDirectory);
  if (directory === resolve(checkout)) return checkout;
  try {
    makeDirectory(directory);
    for (const name of SOURCES) {
      rmSync(join(directory, name), { recursive: true, force: true });
      cpSync(join(checkout, name), join(directory, name), { recursive: true });
    }
  } catch (cause) {
    throw new Error(`BUILD_DIR ${directory} cannot be used: ${cause.message}`, { cause });
  }
  return directory;
}

/**
 * Creates one directory after another, because Node's own recursive `mkdirSync` never returns for a path in `/proc`.
 */
function makeDirectory(path) {
  const missing = [];
  for (let parent = path; !existsSync(parent); parent = dirname(parent)) missing.unshift(parent);
  for (const directory of missing) mkdirSync(directory);
  // Throws if the path is a file.
  mkdirSync(path, { recursive: true });
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
