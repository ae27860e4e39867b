import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { ToolEvent, ToolResult } from '../../../functions/platform/aws/lambda/direct/event.ts';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { type Check, timed } from './check.ts';

interface Functions {
  readonly lambda: LambdaClient;
  /** Name or ARN of each tool's function, by tool. */
  readonly names: Readonly<Record<string, string>>;
  /** Whether the functions have tenant isolation. */
  readonly isolated: boolean;
  /** URLs of sources, by tool. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Invokes each tool's function directly, as `aws lambda invoke` does, and reports the state of its sandbox. */
export async function* checkFunctions({
  lambda,
  names,
  isolated,
  sources,
}: Functions): AsyncGenerator<Check> {
  for (const [tool, name] of Object.entries(names)) {
    const { outfile, options = {} } = (tools as Readonly<Record<string, Tool>>)[tool]!.example;
    const event: ToolEvent = { version: 1, infile: sources[tool]!, outfile, options };
    const invoke = (payload: object) =>
      lambda.send(
        new InvokeCommand({
          FunctionName: name,
          Payload: JSON.stringify(payload),
          LogType: 'Tail',
          ...(isolated && { TenantId: 'smoke' }),
        }),
      );
    yield await timed(`${tool}: invoked directly, returns a file`, async () => {
      const { Payload, FunctionError, LogResult } = await invoke(event);
      const text = Buffer.from(Payload ?? []).toString();
      if (FunctionError !== undefined) return { passed: false, seen: text.slice(0, 200) };
      const { outputs } = JSON.parse(text) as ToolResult;
      const bytes = Buffer.from(outputs[0]?.base64 ?? '', 'base64').length;
      return {
        passed: bytes > 0 && bytes === outputs[0]?.bytes,
        seen: `${bytes} bytes, ${stateIn(LogResult)}`,
      };
    });
    yield await timed(`${tool}: an invalid event results in an error with a code`, async () => {
      const { Payload, FunctionError } = await invoke({ ...event, version: 0 });
      const { errorType } = JSON.parse(Buffer.from(Payload ?? []).toString()) as { errorType?: string };
      return {
        passed: FunctionError !== undefined && errorType === 'BAD_PARAMETER',
        seen: String(errorType),
      };
    });
  }
}

/** Returns how the engine was sandboxed, and Chromium's processes, from the log of an invocation. */
function stateIn(logResult: string | undefined): string {
  const log = Buffer.from(logResult ?? '', 'base64').toString();
  const sandbox = log.match(/"sandbox":"([^"]+)"/)?.[1];
  const processes = log.match(/"browserProcesses":(\d+)/)?.[1];
  const browser = processes === undefined ? '' : `, ${processes} processes of Chromium`;
  return `sandbox: ${sandbox ?? 'not in the log'}${browser}`;
}
