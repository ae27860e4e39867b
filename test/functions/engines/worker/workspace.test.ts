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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Work } from '../../../../functions/engines/protocol.ts';
import { linkOrCopy, openWorkspace, requestFolder } from '../../../../functions/engines/worker/workspace.ts';

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

const OUTPUT = 'out.png';

function open(outputs: Work['outputs'] = '.', inputs: readonly string[] = ['source']) {
  const folder = requestFolder(home, undefined);
  return { folder, workspace: openWorkspace(folder, directory, { inputs, outputs }) };
}

describe('a workspace', () => {
  it('has the inputs of the request, below the home of the worker, and no other files', () => {
    const { folder } = open();

    expect(readFileSync(join(folder, 'source'), 'utf8')).toBe('the source');
    expect(folder.startsWith(`${home}/`)).toBe(true);
    expect(readdirSync(folder)).toEqual(['source']);
  });

  it.each(['../engine-1/secret', '/etc/passwd', '..', '.', '', 'a/../../b'])(
    'gives no access to %s',
    (name) => {
      expect(() => open('.', [name])).toThrow('is not a file of the conversion');
    },
  );

  it('moves an output to the conversion when it is finished', () => {
    const { workspace, folder } = open([OUTPUT]);
    writeFileSync(join(folder, OUTPUT), 'pixels');

    workspace.collect(OUTPUT);

    expect(readFileSync(join(directory, OUTPUT), 'utf8')).toBe('pixels');
  });

  it.each(['earlier', 'source', '../secret', 'cover/secret', '/etc/passwd', ''])(
    'takes no file that is not among the outputs: %s',
    (name) => {
      const { workspace, folder } = open([OUTPUT]);
      if (name === 'earlier') writeFileSync(join(folder, name), 'forged');

      expect(() => workspace.collect(name)).toThrow('not an output');
      workspace.collectAll();

      expect(readFileSync(join(directory, 'earlier'), 'utf8')).toBe('not named');
      expect(readdirSync(directory).sort()).toEqual(['earlier', 'source']);
    },
  );

  it('moves nothing if there are too many files', () => {
    const { workspace, folder } = open();
    for (let file = 0; file <= 2000; file += 1) writeFileSync(join(folder, `${file}`), '');

    expect(workspace.collectAll()).toBe(false);
    expect(readdirSync(directory).sort()).toEqual(['earlier', 'source']);
  });

  it('moves all other files at the end, and leaves nothing', async () => {
    const { workspace, folder } = open();
    writeFileSync(join(folder, OUTPUT), 'pixels');

    expect(workspace.collectAll()).toBe(true);
    await workspace.close();

    expect(readdirSync(directory).sort()).toEqual(['earlier', 'out.png', 'source']);
    expect(readdirSync(home)).toEqual([]);
  });

  it('is used again once it is empty', async () => {
    const { workspace, folder } = open();
    writeFileSync(join(folder, OUTPUT), 'pixels');

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
    const { workspace, folder } = open();
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
    const { workspace, folder } = open();
    symlinkSync('/etc/passwd', join(folder, 'link'));
    mkdirSync(join(folder, OUTPUT));

    workspace.collect(OUTPUT);
    workspace.collectAll();

    expect(existsSync(join(directory, 'link'))).toBe(false);
    expect(existsSync(join(directory, 'out.png'))).toBe(false);
  });

  it('moves nothing from a directory that a worker put in its place', async () => {
    const { workspace, folder } = open();
    const keys = join(root, 'keys');
    mkdirSync(keys);
    writeFileSync(join(keys, 'docmill.db'), 'keys');
    rmSync(folder, { recursive: true });
    symlinkSync(keys, folder);

    workspace.collect('docmill.db');
    workspace.collectAll();
    await workspace.close();

    expect(readdirSync(keys)).toEqual(['docmill.db']);
    expect(readdirSync(directory).sort()).toEqual(['earlier', 'source']);
  });

  it('moves nothing through a link in a path', () => {
    const { workspace, folder } = open(['cover/docmill.db']);
    writeFileSync(join(root, 'docmill.db'), 'keys');
    symlinkSync(root, join(folder, 'cover'));
    mkdirSync(join(directory, 'cover'));

    workspace.collect('cover/docmill.db');

    expect(existsSync(join(root, 'docmill.db'))).toBe(true);
  });

  it('moves nothing from elsewhere, regardless of the answer', () => {
    const { workspace } = open();
    writeFileSync(join(home, 'secret'), 'x');

    expect(() => workspace.collect('../secret')).toThrow('not an output');

    expect(existsSync(join(home, 'secret'))).toBe(true);
  });
});

it('copies a file to a file system on which it cannot have a second name', () => {
  // An existing name cannot be linked to either.
  writeFileSync(join(directory, 'target'), 'old');

  linkOrCopy(join(directory, 'source'), join(directory, 'target'));

  expect(readFileSync(join(directory, 'target'), 'utf8')).toBe('the source');
});
