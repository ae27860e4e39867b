/** One event of a function, as Lambda reports its end. */
interface Report {
  readonly id: string;
  readonly milliseconds: number;
  /** MiB that the function has. */
  readonly memory: number;
  /** Highest MiB that it used. */
  readonly used: number;
  /** Why it ended without a response. */
  readonly errorType?: string | undefined;
}

/**
 * Returns the lines that Lambda adds to a function's log at the end of an event, in its log format `Text`. A function that
 * uses up its memory is killed by the kernel; see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html and
 * https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html.
 */
export function platformLines({ id, milliseconds, memory, used, errorType }: Report): string[] {
  const fields = [
    `REPORT RequestId: ${id}`,
    `Duration: ${milliseconds.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(milliseconds)} ms`,
    `Memory Size: ${memory} MB`,
    `Max Memory Used: ${Math.min(memory, Math.round(used))} MB`,
  ];
  const end = `END RequestId: ${id}`;
  const report = (...more: readonly string[]) => [...fields, ...more].join('\t');
  const exit = (reason: string) => [
    `RequestId: ${id} Error: Runtime exited with error: ${reason}`,
    'Runtime.ExitError',
  ];
  switch (errorType) {
    case undefined:
      return [end, report()];
    case 'Sandbox.Timedout': {
      const seconds = (milliseconds / 1000).toFixed(2);
      const line = `${new Date().toISOString()} ${id} Task timed out after ${seconds} seconds`;
      return [line, end, report('Status: timeout')];
    }
    case 'Runtime.OutOfMemory':
      return [...exit('signal: killed'), end, report('Status: error', `Error Type: ${errorType}`)];
    // Ended by the emulator while it was idle.
    case 'Runtime.Shutdown':
      return [];
    default:
      return [...exit('exit status 1'), end, report('Status: error', `Error Type: ${errorType}`)];
  }
}
