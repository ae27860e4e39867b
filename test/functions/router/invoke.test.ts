import { beforeEach, describe, expect, it } from 'vitest';
import type { Invocation, InvocationResult } from '../../../functions/platform/invoke.ts';
import { invokeTool } from '../../../functions/router/invoke.ts';
import { defaultsOf } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';

let seen: Invocation[];
let removed: string[];
let unconverted: Extract<InvocationResult, { ok: false }>['unconverted'];
beforeEach(() => {
  seen = [];
  removed = [];
  unconverted = [
    { parameter: '-append', index: 0, tool: 'imageproc', asPages: true },
    { parameter: '-append', index: 1, tool: 'html2pdf' },
  ];
});

const APPENDED = ['https://a.example/photo.jpg', 'https://files.example/uploads/page.html'];
const request = {
  tool: tools.pdftools,
  source: 'https://a.example/a.pdf',
  sent: ['https://files.example/uploads/page.html'],
  format: 'pdf',
  outputName: { kind: 'one', name: 'b.pdf' },
  response: 'text',
  optionNames: [],
  ignored: [],
  options: { ...defaultsOf(tools.pdftools.options), append: APPENDED },
} as const;

function run(allowed?: readonly string[], changes: object = {}, context: object = {}) {
  return invokeTool(
    { ...request, options: { ...request.options, ...changes } },
    { account: 'owner', trace: { requestId: 'id', traceparent: undefined }, allowed, ...context },
    {
      tools: Object.values(tools),
      limits: CONVERSION_LIMITS,
      storage: {
        grant: async (grant) => ({ ...grant }),
        exists: async () => true,
        remove: async ({ objectKey }) => void removed.push(objectKey),
        url: async (objectKey) => `https://files.example/${objectKey}`,
      },
      invoke: async (invocation) => {
        seen.push(invocation);
        const error = { code: 'UNSUPPORTED_SOURCE', message: 'Convert it first.' } as const;
        if (invocation.source.endsWith('/locked.docx'))
          return { ok: false, error: { code: 'PASSWORD_REQUIRED', message: 'Set --password.' } };
        if (seen.length === 1 && unconverted) return { ok: false, error, unconverted, validators: 'first' };
        const warnings = [`Warning ${seen.length}.`];
        return { ok: true, objectKeys: [`${invocation.grant.prefix}${seen.length}.pdf`], warnings };
      },
    },
    new AbortController().signal,
  );
}

describe('a source that is not a PDF', () => {
  it('is converted by its tool, and the result is deleted afterwards', async () => {
    const result = await run();

    const warnings = ['photo.jpg: Warning 2.', 'page.html: Warning 3.', 'Warning 4.'];
    expect(result).toMatchObject({ ok: true, warnings });
    expect(seen.map(({ tool }) => tool)).toEqual(['pdftools', 'imageproc', 'html2pdf', 'pdftools']);
    expect(seen[1]!.options.page).toEqual({ width: 210, height: 297 });
    // A sent page is served like any other upload, never opened as a page of the service.
    expect(seen[2]!.files).toEqual([{ path: 'page.html', url: APPENDED[1] }]);
    expect(seen[3]!.options.append).toEqual([
      expect.stringMatching(/^https:\/\/files\.example\/uploads\/[0-9a-f]{32}\/[0-9a-f]{32}\/2\.pdf$/),
      expect.stringMatching(/\/3\.pdf$/),
    ]);
    expect(removed).toHaveLength(2);
    expect(new Set(seen.map(({ deadline }) => deadline)).size).toBe(1);
  });

  it('is not converted by a tool that the key does not allow', async () => {
    expect(await run(['pdftools'])).toMatchObject({ ok: false, error: { code: 'UNSUPPORTED_SOURCE' } });
    expect(seen).toHaveLength(1);
  });

  it('is not converted if the request does not name it', async () => {
    unconverted = [{ parameter: '-append', index: 2, tool: 'html2pdf' }];

    expect(await run()).toMatchObject({ ok: false });
    expect(seen).toHaveLength(1);
  });

  it('is replaced only where it stands, by what that option needs', async () => {
    const url = 'https://a.example/photo.jpg';
    unconverted = [
      { parameter: '-append', index: 0, tool: 'imageproc', asPages: true },
      { parameter: '-append', index: 2, tool: 'imageproc', asPages: true },
      { parameter: '-stamp', index: 0, tool: 'imageproc', asPages: false },
    ];
    const append = [url, 'https://a.example/b.pdf', url];

    await run(undefined, { append, stamp: url, underlay: url, attach: [url] });

    const { options } = seen.at(-1)!;
    const [first, last, stamp] = [2, 3, 4].map((number) => expect.stringMatching(`/${number}\\.pdf$`));
    expect(options).toMatchObject({ append: [first, append[1], last], stamp, underlay: url, attach: [url] });
    expect(seen.map(({ options: { page } }) => page !== undefined)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  it('is named if it cannot be converted', async () => {
    unconverted = [{ parameter: '-append', index: 0, tool: 'doc2any' }];

    const result = await run(undefined, { append: ['https://a.example/locked.docx'] });

    const what = "The file 'locked.docx' for '-append' could not be converted to a PDF.";
    const message = `${what} Set --password. Convert it with app=doc2any first.`;
    expect(result).toMatchObject({
      error: { code: 'PASSWORD_REQUIRED', message, parameter: '-append', index: 0 },
    });
  });

  it('is checked by the validators of the sources themselves, not of the PDFs made of them', async () => {
    const result = await run(undefined, {}, { validate: {} });

    expect(result).toMatchObject({ ok: true, validators: 'first' });
    expect(seen.map(({ validate }) => validate)).toEqual([{}, undefined, undefined, undefined]);
  });
});
