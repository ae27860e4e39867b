import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createMagick, MagickError } from '../../../../functions/engines/imagemagick/magick.ts';
import { quarters } from '../../../fixtures/image.ts';
import { EXTENT } from '../../extent.ts';

const home = await mkdtemp(join(tmpdir(), 'docmill-magick-'));
const magick = createMagick({ layers: resolve('dist/layers'), temporary: home, size: 2 });
const secret = join(home, 'secret.txt');
await writeFile(secret, 'a secret');
const picture = await quarters(80, 60).png().toBuffer();

let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
server.listen(0, '127.0.0.1');
const url = () => `http://127.0.0.1:${(server.address() as { port: number }).port}/x.png`;

afterAll(async () => {
  await magick.close();
  server.close();
  await rm(home, { recursive: true });
});

/** Runs ImageMagick with words that no caller can send, as a mistake in the service's own checks would. */
async function attack(words: readonly string[], source: Buffer = picture, time = 120_000) {
  const directory = await mkdtemp(join(home, 'conversion-'));
  await writeFile(join(directory, 'source'), source);
  const args = words.map((word) => word.replace('SOURCE', 'source').replace('OUTPUT', 'out.png'));
  const request = {
    account: 'test',
    signal: AbortSignal.timeout(time),
    directory,
    limits: { pixels: 100_000_000 },
  };
  const thrown = await magick.run(args, { inputs: ['source'], outputs: '.' }, request).then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  const files = await readdir(directory);
  const written = await Promise.all(files.map((name) => readFile(join(directory, name))));
  return { thrown, files, leaked: written.some((file) => file.includes('a secret')) };
}

/** Inputs that ImageMagick's policy does not allow. */
const CODERS = [
  'msl:SOURCE',
  'mvg:SOURCE',
  'svg:SOURCE',
  'text:SOURCE',
  'pango:hello',
  'caption:hello',
  'pdf:SOURCE',
  'ps:SOURCE',
  'html:SOURCE',
  'ephemeral:SOURCE',
  'show:',
  'inline:data:image/png;base64,AAAA',
  'mpr:x',
  'xc:red',
  'magick:rose',
  'null:',
  'fd:0',
  '-',
  'clipboard:',
  'url:SOURCE',
];
const MORE_CODERS = [
  'msvg:SOURCE',
  'txt:SOURCE',
  'label:hello',
  'eps:SOURCE',
  'xps:SOURCE',
  'dot:SOURCE',
  'video:SOURCE',
  'win:',
  'x:',
  'vid:*',
  'mpc:SOURCE',
  'plasma:',
  'canvas:red',
  'gradient:',
  'pattern:bricks',
  'rose:',
  'wizard:',
  'png:-',
  'screenshot:',
  'stegano:SOURCE',
  'scan:',
  'dng:SOURCE',
  'raw:SOURCE',
  'wmf:SOURCE',
  'djvu:SOURCE',
  'json:SOURCE',
  'info:SOURCE',
  'file:SOURCE',
  'ora:SOURCE',
  'hald:8',
];

describe('ImageMagick', () => {
  it('edits an image in a process of its own', async () => {
    const { thrown, files } = await attack(['png:SOURCE', '-swirl', '90', 'png:OUTPUT']);

    expect(thrown).toBeUndefined();
    expect(files).toContain('out.png');
  });

  it.each(EXTENT.isWhole ? [...CODERS, ...MORE_CODERS] : CODERS)('does not read %s', async (input) => {
    const { thrown, files } = await attack([input, 'png:OUTPUT']);

    expect(thrown).toBeInstanceOf(MagickError);
    expect(files).toEqual(['source']);
  });

  it.each(['http', 'https', 'ftp', 'url', 'ephemeral'])('opens no connection for %s:', async (scheme) => {
    const { thrown } = await attack([url().replace('http', scheme), 'png:OUTPUT']);

    expect(thrown).toBeInstanceOf(MagickError);
    expect(connections).toBe(0);
  });

  it.each([
    ['a file that is not granted', [`png:${secret}`]],
    ['a list of files', [`@${secret}`]],
    ['a text from a file', ['png:SOURCE', '-annotate', '+5+20', `@${secret}`]],
    ['a drawing from a file', ['png:SOURCE', '-draw', `@${secret}`]],
    ['a drawing with an image', ['png:SOURCE', '-draw', `image over 0,0 0,0 "${secret}"`]],
    ['a drawing with a URL', ['png:SOURCE', '-draw', 'image over 0,0 0,0 "https://127.0.0.1/x"']],
    ['a kernel from a file', ['png:SOURCE', '-morphology', 'Convolve', `@${secret}`]],
    ['a comment from a file', ['png:SOURCE', '-set', 'comment', `@${secret}`]],
    ['a profile from a file', ['png:SOURCE', '-profile', secret]],
    ['a palette from a file', ['png:SOURCE', '-remap', secret]],
    ['a texture from a file', ['png:SOURCE', '-texture', secret]],
    ['a mask from a file', ['png:SOURCE', '-write-mask', secret]],
    ['a font from a file', ['png:SOURCE', '-font', secret, '-annotate', '+5+20', 'x']],
    ['a color correction from a file', ['png:SOURCE', '-cdl', secret]],
    ['a script', ['-script', secret]],
    ['another image', ['png:SOURCE', '-read', secret]],
    ['/etc/passwd', ['png:SOURCE', '-set', 'comment', '@/etc/passwd']],
    ['the environment', ['png:SOURCE', '-set', 'comment', '@/proc/self/environ']],
  ])('does not read %s', async (_, words) => {
    const { leaked } = await attack([...words, 'png:OUTPUT']);

    expect(leaked).toBe(false);
    expect(connections).toBe(0);
  });

  it.each([
    ['a path outside', ['-write', `png:${join(home, 'escaped.png')}`]],
    ['a script', ['-write', 'msl:OUTPUT']],
    ['a program', ['-write', 'show:']],
    ['a pipe', ['-write', '|touch escaped']],
    ['a page', ['-write', 'html:OUTPUT']],
    ['a cache', ['-write', 'mpc:OUTPUT']],
    ['a PDF', ['-write', 'pdf:OUTPUT']],
  ])('does not write %s', async (_, words) => {
    await attack(['png:SOURCE', ...words, 'png:OUTPUT']);

    expect(existsSync(join(home, 'escaped.png'))).toBe(false);
    expect((await readdir(home)).filter((name) => name.startsWith('escaped'))).toEqual([]);
  });

  it.each([
    ['sides', ['-resize', '200000x200000!']],
    ['a canvas', ['-extent', '60000x60000']],
    ['a border', ['-border', '90000']],
    ['splices', ['-splice', '90000x90000']],
  ])('stops at its limits: %s', async (_, words) => {
    const { thrown } = await attack(['-limit', 'memory', '64GiB', 'png:SOURCE', ...words, 'png:OUTPUT']);

    expect(thrown).toMatchObject({ kind: 'resource' });
  });

  it('ends at the deadline', async () => {
    const { thrown } = await attack(['png:SOURCE', '-fx', 'while(1,0)', 'png:OUTPUT'], picture, 1000);

    expect(thrown).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('cannot be reconfigured by files next to the source', async () => {
    const policy = '<policymap><policy domain="coder" rights="read|write" pattern="*"/></policymap>';

    const { thrown } = await attack(
      ['-define', 'registry:temporary-path=/tmp', 'label:hello', 'png:OUTPUT'],
      Buffer.from(policy),
    );

    expect(thrown).toBeInstanceOf(MagickError);
  });

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><image href="https://127.0.0.1/x"/></svg>'],
    ['a script', '<image><read filename="/etc/passwd"/></image>'],
    ['a drawing', 'push graphic-context\nimage over 0,0 0,0 "https://127.0.0.1/x"\npop graphic-context'],
    ['PostScript', '%!PS\n(/etc/passwd) (r) file'],
  ])('does not guess from the content what a file is: %s', async (_, text) => {
    for (const coder of ['png', 'tiff']) {
      const { thrown } = await attack([`${coder}:SOURCE`, 'png:OUTPUT'], Buffer.from(text));

      expect(thrown).toBeInstanceOf(MagickError);
    }
    expect(connections).toBe(0);
  });
});
