import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const { placeOfBuild, placeOfServer } = await import(
  join(import.meta.dirname, '../../../infra/container/place.mjs')
);

function serverOn(platform: string, more: object = {}) {
  const asked: string[] = [];
  const place = placeOfServer({
    platform,
    wantsContainer: false,
    program: 'docker',
    isTerminal: true,
    ask: async (question: string) => {
      asked.push(question);
      return '';
    },
    ...more,
  });
  return { place, asked };
}

describe('npm start', () => {
  it('runs the server here on Linux, without asking', async () => {
    const { place, asked } = serverOn('linux', { program: undefined });

    expect(await place).toBe('here');
    expect(asked).toEqual([]);
  });

  it.each([
    ['darwin', 'macOS'],
    ['win32', 'Windows'],
  ])('asks once at a terminal on %s, and takes Enter for yes', async (platform, name) => {
    const { place, asked } = serverOn(platform);

    expect(await place).toBe('container');
    expect(asked).toEqual([
      `The conversion engines run on Linux, and this is ${name}. Build and start a container? [Y/n] `,
    ]);
  });

  it.each([
    ['y', 'container'],
    [' YES ', 'container'],
    ['n', 'declined'],
    ['what?', 'declined'],
  ])('takes the answer %j for %s', async (answer, expected) => {
    expect(await serverOn('darwin', { ask: async () => answer }).place).toBe(expected);
  });

  it('never asks a script, and says what to type', async () => {
    const { place, asked } = serverOn('win32', { isTerminal: false });

    await expect(place).rejects.toThrow(/this is Windows\. Run 'npm start -- --container'/);
    expect(asked).toEqual([]);
  });

  it.each(['linux', 'darwin', 'win32'])('takes --container on %s without asking', async (platform) => {
    const { place, asked } = serverOn(platform, { wantsContainer: true, isTerminal: false });

    expect(await place).toBe('container');
    expect(asked).toEqual([]);
  });

  it.each([
    ['darwin', false, /this is macOS\. Install and start docker, podman or finch/],
    ['linux', true, /No running docker, podman or finch was found\./],
  ])(
    'says on %s what to install if there is no container program',
    async (platform, wantsContainer, message) => {
      const { place } = serverOn(platform, { program: undefined, wantsContainer });

      await expect(place).rejects.toThrow(message);
    },
  );
});

describe('npm run build:aws', () => {
  const build = (platform: string, more: object = {}) =>
    placeOfBuild({ platform, node: '24.1.0', wantsContainer: false, program: 'podman', ...more });

  it('builds here on Linux, and elsewhere in a container', () => {
    expect(build('linux', { program: undefined })).toBe('here');
    expect(build('linux', { wantsContainer: true })).toBe('container');
    expect([build('darwin'), build('win32')]).toEqual(['container', 'container']);
  });

  it('uses a container on a Linux that cannot build the layers, and otherwise says what it lacks', () => {
    const unmet = 'This Linux has no apt-get. Install it.';

    expect(build('linux', { unmet })).toBe('container');
    expect(() => build('linux', { unmet, program: undefined })).toThrow(unmet);
    expect(() => build('linux', { unmet, program: undefined, wantsContainer: true })).toThrow(unmet);
  });

  it('names the platform and what to install if there is no container program', () => {
    expect(() => build('darwin', { program: undefined })).toThrow(
      'The layers are built on Linux, and this is macOS. Install and start docker, podman or finch, then run this again.',
    );
    expect(() => build('linux', { program: undefined, wantsContainer: true })).toThrow(/^Install and start/);
  });

  it.each(['20.20.2', '22.17.9'])('refuses Node %s where cdk runs on it', (node) => {
    expect(() => build('darwin', { node })).toThrow(
      `On macOS, 'cdk' needs Node 22.18 or newer to read the stack; this is v${node}.`,
    );
    expect(build('linux', { node })).toBe('here');
    expect(build('win32', { node: '22.18.0' })).toBe('container');
  });
});
