import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOutput, readOutput, writeOutput } from '../../../../functions/engines/chromium/output.ts';

let directory: string;
let path: string;
let foreign: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'output-'));
  path = join(directory, 'page.pdf');
  foreign = join(directory, 'docmill.db');
  writeFileSync(foreign, 'keys');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('an output of a page', () => {
  it('is written in place of a link, not through it', async () => {
    symlinkSync(foreign, path);
    await writeOutput(path, Buffer.from('%PDF'));

    expect(readFileSync(foreign, 'utf8')).toBe('keys');
    expect(readFileSync(path, 'utf8')).toBe('%PDF');
  });

  it('is opened in place of a link to nothing', async () => {
    symlinkSync(join(directory, 'new'), path);
    await (await openOutput(path)).close();

    expect(existsSync(join(directory, 'new'))).toBe(false);
  });

  it('is not read through a link', async () => {
    symlinkSync(foreign, path);

    await expect(readOutput(path)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('replaces an earlier one, and belongs to this user only', async () => {
    await writeOutput(path, Buffer.from('a longer text'));
    await writeOutput(path, Buffer.from('short'));

    expect((await readOutput(path)).toString()).toBe('short');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
