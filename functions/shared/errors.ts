/**
 * Every error code with its HTTP status and its meaning. No other code exists; the error table in
 * `functions/router/README.md` is generated from this.
 */
export const ERRORS = {
  MISSING_PARAMETER: { status: 400, meaning: 'a required parameter is missing' },
  BAD_PARAMETER: {
    status: 400,
    meaning: 'a value is invalid or given more than once, or the option is not allowed',
  },
  UNKNOWN_PARAMETER: {
    status: 400,
    meaning: 'the tool has no such option; the message suggests a similar name',
  },
  UNKNOWN_APP: {
    status: 400,
    meaning: '`app` is not the name of a tool, or the API key does not allow this tool',
  },
  UNSUPPORTED_CONVERSION: { status: 400, meaning: 'the tool cannot write the format of `outfile`' },
  BAD_ADDRESS: { status: 400, meaning: '`infile` or a redirect is not an absolute http or https URL' },
  PAGE_RANGE: { status: 400, meaning: 'the document does not have the selected pages' },
  BLOCKED_ADDRESS: {
    status: 403,
    meaning: 'the URL does not lead to the public internet, or its port is not allowed',
  },
  NOT_FOUND: { status: 404, meaning: 'there is no such path; send conversion requests to `/api/`' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'the method is not GET' },
  SOURCE_TOO_LARGE: { status: 413, meaning: 'the source has too many bytes, pages or pixels' },
  RESULT_TOO_LARGE: { status: 413, meaning: 'the result would have too many bytes, files or pixels' },
  UNSUPPORTED_SOURCE: { status: 415, meaning: 'the tool cannot read this type of source' },
  CORRUPT_SOURCE: { status: 422, meaning: 'the source is damaged or empty' },
  PASSWORD_REQUIRED: { status: 422, meaning: 'the source is encrypted and no password was given' },
  WRONG_PASSWORD: { status: 422, meaning: 'the password is wrong' },
  CONVERSION_FAILED: { status: 422, meaning: 'the engine failed on this source' },
  SOURCE_STATUS: { status: 424, meaning: 'the server of the source returned an error status' },
  SOURCE_UNREACHABLE: {
    status: 424,
    meaning: 'the server of the source could not be reached or closed the connection',
  },
  RATE_LIMITED: { status: 429, meaning: 'too many requests; see `Retry-After`' },
  QUOTA_EXCEEDED: { status: 429, meaning: 'the quota of the account is used up; see `Retry-After`' },
  INTERNAL: { status: 500, meaning: 'an internal error; the cause is in the log' },
  OVERLOADED: {
    status: 503,
    meaning: 'the service is at capacity or cannot read its accounts; see `Retry-After`',
  },
  SOURCE_TIMEOUT: { status: 504, meaning: 'the server of the source was too slow' },
  TIMED_OUT: { status: 504, meaning: 'the conversion timed out' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** The part of an error that is passed between processes: never the cause, a stack or a path. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds after which a retry may succeed. */
  readonly retryAfter?: number;
}

/**
 * An error of a conversion: `message` is sent to the caller, `cause` is only logged. The message is one or more complete
 * sentences that name the parameter, the rule and the value.
 */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  /** What the process that reported the error knows about it. Never sent to the caller. */
  readonly values: Readonly<Record<string, string | number>> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      retryAfter?: number;
      values?: Readonly<Record<string, string | number>> | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.values = options.values;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  toReport(): ErrorReport {
    const { code, message, retryAfter } = this;
    return { code, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
  }

  /** Rebuilds an error that another process reported. An unknown code becomes `INTERNAL`. */
  static fromReport(report: { code: string; message: string; retryAfter?: number }): ConversionError {
    if (!Object.hasOwn(ERRORS, report.code)) return ConversionError.from(report);
    const { code, message, retryAfter } = report;
    return new ConversionError(code as ErrorCode, message, retryAfter === undefined ? {} : { retryAfter });
  }

  /** Converts anything thrown into an error for the caller. Errors of other classes stay private. */
  static from(thrown: unknown): ConversionError {
    if (thrown instanceof ConversionError) return thrown;
    return new ConversionError('INTERNAL', 'Internal error. It has been logged.', {
      cause: thrown,
    });
  }
}
