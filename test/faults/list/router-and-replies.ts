import { inFile } from '../list.ts';

/** Faults in how requests are read, shared and replied to, and in how conversions are run and stored. */
export const routerAndReplies = [
  ...inFile('functions/router/route.ts', [
    ['unordered: http.query.length', 'unordered: 0'],
    ["http.method === 'GET' && endpoint === 'convert'", "endpoint === 'convert'"],
    ['    body.close();\n', ''],
  ]),
  ...inFile('functions/router/reuse.ts', [
    ['created < 1000 * seconds;', 'created < 1e6 * seconds;'],
    ['format, outputName, own];', 'format, outputName, Object.keys(own)];'],
    ['if (run.callers > 0) return;', ''],
    ['running.delete(identity);\n      run.abort', 'run.abort'],
  ]),
  ...inFile('functions/router/conversion.ts', [
    ['hashOf([account, { ...request,', 'hashOf([{ ...request,'],
    [
      'await admitted.release(refundOf(facts))',
      "await admitted.release(facts.result ? refundOf(facts) : 'none')",
    ],
  ]),
  ...inFile('functions/router/endpoints.ts', [
    ['!isAny && !allowed.includes(origin)', "!isAny && origin === ''"],
  ]),
  ...inFile('functions/router/endpoints.ts', [
    ["header('cdn-loop')?.includes(CDN_LOOP)", "header('cdn-loop') === CDN_LOOP"],
  ]),
  ...inFile('functions/router/invoke.ts', [
    ['objectKey.startsWith(prefix);', 'objectKey.startsWith(parent);'],
    ['await run(pdfs, others)', 'await run(pdfs, context)'],
  ]),
  ...inFile('functions/router/reuse.ts', [
    ['ERRORS[result.error.code].status < 500', 'ERRORS[result.error.code].status < 600'],
  ]),
  ...inFile('functions/router/reply.ts', [
    ["<br>`).join('')", "<br>`).join('\\n')"],
    ["  'X-Content-Type-Options': 'nosniff',\n", ''],
  ]),
  ...inFile('functions/conversion/request.ts', [
    ['if (length <= MAX_PARAMETER_LENGTH) return;', 'if (length <= 10 * MAX_PARAMETER_LENGTH) return;'],
    ['({ name, value }) => !containsApiKey(', '({ name, value }) => containsApiKey('],
  ]),
  ...inFile('functions/router/uploads/body.ts', [['close();\n    throw thrown;', 'throw thrown;']]),
  ...inFile('functions/router/uploads/call-uploads.ts', [
    ['(^|\\/)\\.\\.?(\\/|$)', '(^|\\/)\\.(\\/|$)'],
    ['    this.#bytesLeft -= bytes;\n', ''],
    ['    this.#objectKeys.push(objectKey);\n', ''],
  ]),
  ...inFile('functions/router/uploads/forms.ts', [
    ['target && (await isDisabled?.(target.account))', 'target && isDisabled?.(target.account)'],
  ]),
  ...inFile('functions/shared/log.ts', [['[\\x7f-\\x9f', '[\\x7f-\\x80']]),
  ...inFile('functions/shared/quote.ts', [['/\\[output\\]|<br>/gi', '/\\[output\\]/gi']]),
  ...inFile('functions/shared/errors.ts', [
    ["new ConversionError('INTERNAL', undefined, {", "new ConversionError('INTERNAL', String(thrown), {"],
  ]),
  ...inFile('functions/shared/time.ts', [["signal.removeEventListener('abort', reject);", '']]),
  ...inFile('functions/shared/options/sources.ts', [
    ['counts.set(option, index + 1);', 'counts.set(option, index);'],
  ]),
  ...inFile('functions/conversion/handler.ts', [
    ['.filter((url) => !sent?.includes(url))', ''],
    ['await afterReply(() => remove(directory))', 'void afterReply(() => directories.remove(directory))'],
  ]),
  ...inFile('functions/conversion/store.ts', [
    [
      'if (dirname(path) !== directory) throw noOutputError();',
      "if (dirname(path) === '') throw noOutputError();",
    ],
    ['if (total > limits.resultBytes)', 'if (bytes > limits.resultBytes)'],
  ]),
  ...inFile('infra/local/server/http/server.ts', [['/^(127\\.|::1$)/.test(peer) ||', 'isIP(peer) > 0 ||']]),
];
