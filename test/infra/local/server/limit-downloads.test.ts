import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Download, SourceFile } from '../../../../functions/shared/tool.ts';
import { limitDownloads } from '../../../../infra/local/server/limit-downloads.ts';

it('limits the downloads of one account, not those of others', async () => {
  const started: string[] = [];
  const ends: Array<() => void> = [];
  const held = ((url: string) => {
    started.push(url);
    return new Promise((resolve) => ends.push(() => resolve({} as SourceFile)));
  }) as Download;
  const download = limitDownloads(2, held);
  const begin = (url: string, account: string) =>
    download(url, { account, signal: new AbortController().signal } as Parameters<Download>[1]);

  for (const url of ['a1', 'a2', 'a3', 'a4']) void begin(url, 'a');
  void begin('b1', 'b');
  await setImmediate();
  expect(started).toEqual(['a1', 'a2', 'b1']);

  ends[0]!();
  await setImmediate();
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('does not start a download that was aborted while it waited', async () => {
  const started: string[] = [];
  const download = limitDownloads(1, ((url: string) => {
    started.push(url);
    return new Promise(() => {});
  }) as Download);
  const caller = new AbortController();
  const options = { account: 'a', signal: caller.signal } as Parameters<Download>[1];

  void download('first', options);
  const second = download('second', options);
  caller.abort(new Error('left'));

  await expect(second).rejects.toThrow('left');
  expect(started).toEqual(['first']);
});
