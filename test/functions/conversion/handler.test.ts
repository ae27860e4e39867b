import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHandler } from '../../../functions/conversion/handler.ts';
import type { Invocation } from '../../../functions/platform/invoke.ts';
import type { StoredFile } from '../../../functions/platform/storage.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { sourcesIn } from '../../../functions/shared/options/sources.ts';
import { CONVERSION_LIMITS, type Download, type Engine, type Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { createTinyEngine, PNG, type TinyEngine, tiny, tinyPage } from '../tiny-tool.ts';

/** Duration of a hanging conversion in milliseconds. */
const HANG_TIME = 60_000;

let root: string;
let temporary: string;
let engine: TinyEngine;
let stored: string[];
let events: Array<{ event: string; facts: unknown }>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'handler-'));
  temporary = await mkdtemp(join(root, 'temporary-'));
  await writeFile(join(root, 'source.png'), PNG);
  engine = createTinyEngine();
  stored = [];
  events = [];
});

afterEach(() => rm(root, { recursive: true, force: true }));

const download: Download = async (address, { directory }) => {
  if (address.includes('missing'))
    throw new ConversionError('SOURCE_STATUS', 'The source answered with status 404.');
  const path = join(directory, 'source');
  await copyFile(join(root, 'source.png'), path);
  return { path, name: 'source.png', contentType: 'image/png', bytes: PNG.length };
};

const put = async (_grant: unknown, { path, name }: StoredFile) => {
  expect((await readFile(path)).equals(PNG)).toBe(true);
  stored.push(name);
  return `p/${name}`;
};

function dependencies() {
  return {
    download,
    put,
    temporary,
    log: (event: string, facts?: unknown) => events.push({ event, facts }),
  };
}

function invocation(
  options: Partial<Record<keyof typeof tiny.options, unknown>> = {},
  changes: Partial<Invocation> = {},
): Invocation {
  const defaults = Object.entries(tiny.options).map(([name, parameter]) => [name, parameter.default]);
  return {
    tool: 'tiny',
    account: 'owner',
    source: 'https://example.org/source.png?secret=1',
    format: 'png',
    outputName: { kind: 'one', name: 'copy.png' },
    options: { ...Object.fromEntries(defaults), ...options },
    grant: {},
    limits: CONVERSION_LIMITS,
    deadline: Date.now() + HANG_TIME,
    ...changes,
  };
}

const never = new AbortController().signal;
const run = (request: Invocation, signal = never) =>
  createHandler(tiny, engine, dependencies())(request, signal);

describe('a handler', () => {
  it('downloads, converts and stores, and returns the object keys', async () => {
    expect(await run(invocation())).toMatchObject({ ok: true, objectKeys: ['p/copy.png'], pageCount: 1 });
    expect(stored).toEqual(['copy.png']);
  });

  it('replies after the files have been deleted, unless told otherwise', async () => {
    let isDeleted = false;
    const afterReply = async (work: () => void | Promise<void>) => {
      await setTimeout(1);
      await work();
      isDeleted = true;
    };

    await createHandler(tiny, engine, { ...dependencies(), afterReply })(invocation(), never);

    expect(isDeleted).toBe(true);
  });

  it('passes the source, the typed options and an empty directory to the engine', async () => {
    await run(invocation({ copies: 2 }, { outputName: { kind: 'numbered', pattern: '%d.png' } }));

    const [conversion] = engine.conversions;
    expect(conversion).toMatchObject({
      delivery: 'paged',
      format: 'png',
      account: 'owner',
      limits: CONVERSION_LIMITS,
    });
    expect(conversion!.options).toMatchObject({ copies: 2, notes: [] });
    expect(conversion!.source).toMatchObject({ name: 'source.png', bytes: PNG.length });
    expect(conversion!.directory.startsWith(temporary)).toBe(true);
    expect(stored).toEqual(['1.png', '2.png']);
  });

  it('leaves nothing on disk, even after an error', async () => {
    await run(invocation());
    for (const fault of ['typed', 'private', 'nothing']) await run(invocation({ fault }));
    await run(invocation({}, { source: 'https://example.org/missing' }));
    await run(invocation({ fault: 'hang' }, { deadline: Date.now() + 100 }));

    expect(await leftIn(temporary)).toEqual([]);
  });

  it('deletes its files after the reply where that is possible', async () => {
    const deferred: Array<() => void | Promise<void>> = [];
    const afterReply = (work: () => void | Promise<void>) => void deferred.push(work);
    await createHandler(tiny, engine, { ...dependencies(), afterReply })(invocation(), never);

    expect(await leftIn(temporary)).not.toEqual([]);
    for (const work of deferred) await work();
    expect(await leftIn(temporary)).toEqual([]);
  });

  it('passes the URL to a tool that opens pages', async () => {
    const sources: unknown[] = [];
    const pages: Engine<typeof tinyPage> = {
      convert: async ({ source, directory }) => {
        sources.push(source);
        const path = join(directory, 'a');
        await writeFile(path, '%PDF-1.7');
        return { outputs: [{ path }] };
      },
      close: async () => {},
    };
    const handler = createHandler(tinyPage, pages, { ...dependencies(), put: async () => 'p/a.pdf' });

    const result = await handler(
      invocation({}, { format: 'pdf', outputName: { kind: 'one', name: 'a.pdf' } }),
      never,
    );

    expect(result).toMatchObject({ ok: true, objectKeys: ['p/a.pdf'] });
    expect(sources).toEqual([new URL('https://example.org/source.png?secret=1')]);
  });
});

describe('a failed conversion', () => {
  it.each<[string, Invocation, string]>([
    ['the source', invocation({}, { source: 'https://example.org/missing' }), 'SOURCE_STATUS'],
    ['the engine', invocation({ fault: 'typed' }), 'CORRUPT_SOURCE'],
    ['an engine without a result', invocation({ fault: 'nothing' }), 'CONVERSION_FAILED'],
    ['a cause of ours', invocation({ fault: 'private' }), 'INTERNAL'],
  ])('returns the code of %s', async (_, request, code) => {
    expect(await run(request)).toMatchObject({ ok: false, error: { code } });
    expect(stored).toEqual([]);
  });

  it('names the tool for a source that its own cannot read', async () => {
    const unable: Engine<typeof tiny> = {
      ...engine,
      convert: () => Promise.reject(new ConversionError('UNSUPPORTED_SOURCE', 'The source is not tiny.')),
    };

    const result = await createHandler(
      tiny,
      unable,
      dependencies(),
    )(invocation(), new AbortController().signal);

    expect(result).toMatchObject({
      ok: false,
      error: { code: 'UNSUPPORTED_SOURCE', message: 'The source is not tiny. Use app=imageproc for images.' },
    });
  });

  it('logs a private cause and does not return it', async () => {
    const result = await run(invocation({ fault: 'private' }));

    expect(JSON.stringify(result)).not.toContain(temporary);
    expect(JSON.stringify(events)).toContain('broken at');
  });

  it('never logs the query of a source', async () => {
    await run(invocation());
    await run(invocation({ fault: 'private' }));

    expect(events.map(({ event }) => event)).toEqual(['converted', 'failed']);
    expect(JSON.stringify(events)).not.toContain('secret');
  });
});

describe('the validators', () => {
  const broken = { convert: () => Promise.reject(new Error('unused')), close: async () => {} };

  /** Returns values of all options of a tool that name sources. */
  function sourceOptions(tool: Tool): Record<string, unknown> {
    const urlOf = (name: string) => `https://example.org/${name}`;
    const found: Record<string, unknown> = {};
    for (const [key, { namesSource, readers = {}, default: usual }] of Object.entries(tool.options)) {
      const operators = Object.keys(readers).filter((operator) => readers[operator]!.namesSource);
      const steps = operators.map((operator) => ({ operator, value: urlOf(operator) }));
      if (namesSource) found[key] = Array.isArray(usual) ? [urlOf(key), urlOf(`${key}-2`)] : urlOf(key);
      else if (steps.length > 0) found[key] = steps;
    }
    return found;
  }

  it.each(Object.values(tools) as Tool[])('of $name change with each source in turn', async (tool) => {
    const options = sourceOptions(tool);
    const states = new Map<string, string>();
    const readValidators = async (url: string) => states.get(url) ?? 'first';
    const handler = createHandler(tool, broken, { ...dependencies(), readValidators });
    const ask = (validate: NonNullable<Invocation['validate']>) =>
      handler({ ...invocation(), tool: tool.name, options, validate }, never);
    const { validators: known = '' } = await ask({});
    const urls = ['https://example.org/source.png?secret=1', ...sourcesIn(tool, options).keys()];

    const changed = [];
    for (const url of urls) {
      states.set(url, 'second');
      const { validators } = await ask({ known });
      if (validators !== known) changed.push(url);
      states.delete(url);
    }

    expect(changed).toEqual(urls);
    expect(await ask({ known })).toMatchObject({ ok: true, unchanged: true });
    if (tool.name === 'pdftools') expect(urls).toHaveLength(8);
  });

  it('leave out sources that were sent', async () => {
    const asked: string[] = [];
    const readValidators = async (url: string) => void asked.push(url);
    const sent = ['https://example.org/source.png?secret=1', 'https://example.org/stamp'];
    const options = { stamp: sent[1], attach: ['https://example.org/attach'] };

    const handler = createHandler(tools.pdftools, broken, { ...dependencies(), readValidators });
    const result = await handler({ ...invocation(), options, sent, validate: {} }, never);

    expect(asked).toEqual(['https://example.org/attach']);
    expect(result.validators).toBeUndefined();
  });
});

describe('the deadline', () => {
  it('ends a conversion as TIMED_OUT', async () => {
    const started = Date.now();

    const result = await run(invocation({ fault: 'hang' }, { deadline: started + 200 }));

    expect(result).toMatchObject({ ok: false, error: { code: 'TIMED_OUT' } });
    expect(Date.now() - started).toBeLessThan(HANG_TIME / 2);
  });

  it('is the earlier one of the invocation and the limit', async () => {
    const limits = { ...CONVERSION_LIMITS, conversionTime: 150 };
    const started = Date.now();

    const result = await run(invocation({ fault: 'hang' }, { limits }));

    expect(result).toMatchObject({ error: { code: 'TIMED_OUT' } });
    expect(Date.now() - started).toBeLessThan(HANG_TIME / 2);
  });

  it('applies to storing too', async () => {
    const slow = { ...dependencies(), put: (_: unknown, __: unknown, signal: AbortSignal) => held(signal) };
    const handler = createHandler(tiny, engine, slow);

    const result = await handler(invocation({}, { deadline: Date.now() + 200 }), never);

    expect(result).toMatchObject({ error: { code: 'TIMED_OUT' } });
  });

  it('is not waited for after the caller has disconnected', async () => {
    const gone = new AbortController();
    const result = run(invocation({ fault: 'hang' }), gone.signal);
    await expect.poll(() => engine.conversions).toHaveLength(1);

    const left = Date.now();
    gone.abort();

    expect(await result).toMatchObject({ ok: false });
    expect(Date.now() - left).toBeLessThan(HANG_TIME / 2);
    expect(await leftIn(temporary)).toEqual([]);
  });
});

/** Names of everything below a directory, except directories that wait for the next conversion. */
async function leftIn(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => !/^spare-[^/]*$/.test(name));
}

async function held(signal: AbortSignal): Promise<string> {
  await setTimeout(HANG_TIME, undefined, { signal });
  return 'p/late.png';
}
