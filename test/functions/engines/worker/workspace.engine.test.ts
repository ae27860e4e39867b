import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, requestFolder } from '../../../../functions/engines/worker/workspace.ts';

let root: string;
let home: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workspace test '));
  home = join(root, 'engine-1');
  directory = join(root, 'conversion-1');
  for (const folder of [home, directory]) mkdirSync(folder);
  writeFileSync(join(directory, 'source'), 'the source');
  writeFileSync(join(directory, 'earlier'), 'not named');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Request {
  readonly path: string;
  readonly url: string;
  readonly output: string;
  readonly text: string;
}

function open() {
  const request = {
    path: join(directory, 'source'),
    url: pathToFileURL(join(directory, 'source')).href,
    output: join(directory, 'out.png'),
    text: 'nothing about files',
  };
  const workspace = openWorkspace(requestFolder(home, undefined), directory, request);
  return { workspace, seen: workspace.request as Request };
}

describe('a workspace', () => {
  it('has the files that the request names, below the home of the worker, and no others', () => {
    const { seen } = open();

    expect(readFileSync(seen.path, 'utf8')).toBe('the source');
    expect(fileURLToPath(seen.url)).toBe(seen.path);
    expect(seen.path.startsWith(`${home}/`)).toBe(true);
    expect(readdirSync(join(seen.path, '..'))).toEqual(['source']);
    expect(seen.text).toBe('nothing about files');
  });

  it('moves an output to the conversion when a message names it', () => {
    const { workspace, seen } = open();
    writeFileSync(seen.output, 'pixels');

    const message = workspace.collect({ page: 1, path: seen.output });

    expect(message).toEqual({ page: 1, path: join(directory, 'out.png') });
    expect(readFileSync(join(directory, 'out.png'), 'utf8')).toBe('pixels');
  });

  it('moves nothing if there are too many files', () => {
    const { workspace, seen } = open();
    for (let file = 0; file <= 2000; file += 1) writeFileSync(join(seen.path, '..', `${file}`), '');

    expect(workspace.collectAll()).toBe(false);
    expect(readdirSync(directory).sort()).toEqual(['earlier', 'source']);
  });

  it('moves all other files at the end, and leaves nothing', async () => {
    const { workspace, seen } = open();
    writeFileSync(seen.output, 'pixels');

    expect(workspace.collectAll()).toBe(true);
    await workspace.close();

    expect(readdirSync(directory).sort()).toEqual(['earlier', 'out.png', 'source']);
    expect(readdirSync(home)).toEqual([]);
  });

  it('is used again once it is empty', async () => {
    const { workspace, seen } = open();
    const folder = join(seen.path, '..');
    writeFileSync(seen.output, 'pixels');

    workspace.collectAll();

    expect(await workspace.empty()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
    expect(readFileSync(join(directory, 'source'), 'utf8')).toBe('the source');
    expect(requestFolder(home, folder)).toBe(folder);
  });

  it.each<[string, (folder: string) => void]>([
    ['a directory', (folder) => mkdirSync(join(folder, 'more'))],
    ['a link', (folder) => symlinkSync('/etc/passwd', join(folder, 'link'))],
    [
      'another file in place of a given one',
      (folder) => {
        rmSync(join(folder, 'source'));
        writeFileSync(join(folder, 'source'), 'another one');
      },
    ],
    [
      'a directory in place of a given file',
      (folder) => {
        rmSync(join(folder, 'source'));
        mkdirSync(join(folder, 'source'));
      },
    ],
  ])('is deleted if a worker leaves %s', async (_name, leave) => {
    const { workspace, seen } = open();
    const folder = join(seen.path, '..');
    leave(folder);

    workspace.collectAll();

    expect(await workspace.empty()).toBe(false);
    expect(readdirSync(home)).toEqual([]);
    expect(readFileSync(join(directory, 'source'), 'utf8')).toBe('the source');
  });

  it.each<[string, (folder: string) => void]>([
    ['deleted', () => {}],
    ['replaced', (folder) => symlinkSync(directory, folder)],
  ])('is a new one if the last one was %s', async (_name, replace) => {
    const folder = requestFolder(home, undefined);
    rmSync(folder, { recursive: true });
    replace(folder);

    const next = requestFolder(home, folder);

    expect(next).not.toBe(folder);
    expect(lstatSync(next).isDirectory()).toBe(true);
  });

  it('moves neither links nor directories', () => {
    const { workspace, seen } = open();
    symlinkSync('/etc/passwd', join(seen.path, '../link'));
    mkdirSync(seen.output);

    workspace.collect({ path: seen.output });
    workspace.collectAll();

    expect(existsSync(join(directory, 'link'))).toBe(false);
    expect(existsSync(join(directory, 'out.png'))).toBe(false);
  });

  it('moves nothing from a directory that a worker put in its place', async () => {
    const { workspace, seen } = open();
    const keys = join(root, 'keys');
    mkdirSync(keys);
    writeFileSync(join(keys, 'docmill.db'), 'keys');
    const folder = join(seen.path, '..');
    rmSync(folder, { recursive: true });
    symlinkSync(keys, folder);

    workspace.collect({ path: join(folder, 'docmill.db') });
    workspace.collectAll();
    await workspace.close();

    expect(readdirSync(keys)).toEqual(['docmill.db']);
    expect(readdirSync(directory).sort()).toEqual(['earlier', 'source']);
  });

  it('moves nothing through a link in a path', () => {
    const { workspace, seen } = open();
    writeFileSync(join(root, 'docmill.db'), 'keys');
    symlinkSync(root, join(seen.path, '../cover'));
    mkdirSync(join(directory, 'cover'));

    workspace.collect({ path: join(seen.path, '../cover/docmill.db') });

    expect(existsSync(join(root, 'docmill.db'))).toBe(true);
  });

  it('moves nothing from elsewhere, regardless of the message', () => {
    const { workspace, seen } = open();
    writeFileSync(join(home, 'secret'), 'x');

    workspace.collect({ path: join(seen.path, '../../secret'), more: `${join(seen.path, '..')}/..` });

    expect(existsSync(join(home, 'secret'))).toBe(true);
  });
});
