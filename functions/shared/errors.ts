/** HTTP status of every error code. The list is closed: each code stands in the README with its meaning. */
export const STATUS = {
  MISSING_PARAMETER: 400,
  BAD_PARAMETER: 400,
  UNKNOWN_PARAMETER: 400,
  UNKNOWN_APP: 400,
  UNSUPPORTED_CONVERSION: 400,
  BAD_ADDRESS: 400,
  PAGE_RANGE: 400,
  BLOCKED_ADDRESS: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SOURCE_TOO_LARGE: 413,
  RESULT_TOO_LARGE: 413,
  UNSUPPORTED_SOURCE: 415,
  CORRUPT_SOURCE: 422,
  PASSWORD_REQUIRED: 422,
  WRONG_PASSWORD: 422,
  CONVERSION_FAILED: 422,
  SOURCE_STATUS: 424,
  SOURCE_UNREACHABLE: 424,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  OVERLOADED: 503,
  SOURCE_TIMEOUT: 504,
  TIMED_OUT: 504,
} as const;

export type ErrorCode = keyof typeof STATUS;

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
    return STATUS[this.code];
  }

  toReport(): ErrorReport {
    const { code, message, retryAfter } = this;
    return { code, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
  }

  /** Rebuilds an error that another process reported; a code that is not on our list becomes `INTERNAL`. */
  static fromReport(report: { code: string; message: string; retryAfter?: number }): ConversionError {
    if (!Object.hasOwn(STATUS, report.code)) return ConversionError.from(report);
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
