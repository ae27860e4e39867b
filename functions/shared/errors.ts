/** Every error code with its HTTP status and its meaning. The list is closed; the README's table is made from it. */
export const ERRORS = {
  MISSING_PARAMETER: { status: 400, meaning: 'a required parameter is missing' },
  BAD_PARAMETER: { status: 400, meaning: 'a value breaks its rule, stands twice, or the option is refused' },
  UNKNOWN_PARAMETER: { status: 400, meaning: 'the tool has no such option; the nearest name is offered' },
  UNKNOWN_APP: { status: 400, meaning: '`app` names no tool' },
  UNSUPPORTED_CONVERSION: { status: 400, meaning: 'the tool does not write what `outfile` asks for' },
  BAD_ADDRESS: { status: 400, meaning: '`infile`, or a redirect, is no absolute http or https address' },
  PAGE_RANGE: { status: 400, meaning: 'the pages asked for do not exist' },
  BLOCKED_ADDRESS: { status: 403, meaning: 'the address is not public, or its port is not allowed' },
  NOT_FOUND: { status: 404, meaning: 'the path is not `/api/`' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'the method is not GET' },
  SOURCE_TOO_LARGE: { status: 413, meaning: 'the source has too many bytes, pages or pixels' },
  RESULT_TOO_LARGE: { status: 413, meaning: 'the result would have too many bytes, files or pixels' },
  UNSUPPORTED_SOURCE: { status: 415, meaning: 'the source is of a kind the tool does not read' },
  CORRUPT_SOURCE: { status: 422, meaning: 'the source is damaged or empty' },
  PASSWORD_REQUIRED: { status: 422, meaning: 'the source is encrypted and no password came' },
  WRONG_PASSWORD: { status: 422, meaning: 'the password does not open the source' },
  CONVERSION_FAILED: { status: 422, meaning: 'the engine gave up on this source' },
  SOURCE_STATUS: { status: 424, meaning: "the source's server answered with an error status" },
  SOURCE_UNREACHABLE: { status: 424, meaning: "the source's server could not be reached or broke off" },
  RATE_LIMITED: { status: 429, meaning: 'too many calls; see `Retry-After`' },
  QUOTA_EXCEEDED: { status: 429, meaning: "the key's allowance is used up; see `Retry-After`" },
  INTERNAL: { status: 500, meaning: 'a fault of ours; the log has the cause' },
  OVERLOADED: { status: 503, meaning: 'all engines are busy; see `Retry-After`' },
  SOURCE_TIMEOUT: { status: 504, meaning: "the source's server was too slow" },
  TIMED_OUT: { status: 504, meaning: 'the conversion reached its deadline' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** What survives of an error between processes: never the cause, a stack or a path. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds after which the same call may succeed. */
  readonly retryAfter?: number;
}

/**
 * An error with two faces: `message` is written to the caller, `cause` goes to the log.
 * The message is one or more sentences that end with a full stop and name the parameter, the rule and what came.
 */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryAfter?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  toReport(): ErrorReport {
    const { code, message, retryAfter } = this;
    return { code, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
  }

  /** Rebuilds an error that another process reported; a code that is not on our list becomes `INTERNAL`. */
  static fromReport(report: { code: string; message: string; retryAfter?: number }): ConversionError {
    if (!Object.hasOwn(ERRORS, report.code)) return ConversionError.from(report);
    const { code, message, retryAfter } = report;
    return new ConversionError(code as ErrorCode, message, retryAfter === undefined ? {} : { retryAfter });
  }

  /** Turns whatever was thrown into an error for the caller: what we do not know stays private. */
  static from(thrown: unknown): ConversionError {
    if (thrown instanceof ConversionError) return thrown;
    return new ConversionError(
      'INTERNAL',
      'The conversion failed for a reason of ours; it has been logged.',
      {
        cause: thrown,
      },
    );
  }
}
