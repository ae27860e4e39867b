interface ErrorKind {
  readonly status: number;
  readonly description: string;
  /** The parameter of all errors with this code, unless they name another one. */
  readonly parameter?: string;
  /** The sentence of errors that have no other. */
  readonly message?: string;
  /** Seconds after which a retry may succeed, unless an error says otherwise. */
  readonly retryAfter?: number;
}

/**
 * Every error code with its HTTP status and description. No other codes exist. The error table in
 * `functions/router/README.md` is generated from this.
 */
export const ERRORS = {
  MISSING_PARAMETER: { status: 400, description: 'a required parameter is missing' },
  BAD_PARAMETER: {
    status: 400,
    description: 'a value is invalid or given more than once, or the option is not allowed',
  },
  UNKNOWN_PARAMETER: {
    status: 400,
    description: 'the tool has no such option; the message suggests a similar name',
  },
  UNKNOWN_APP: {
    status: 400,
    description: '`app` is not the name of a tool, or the API key does not allow this tool',
    parameter: 'app',
  },
  UNSUPPORTED_CONVERSION: {
    status: 400,
    description: 'the tool cannot write the format of `outfile`',
    parameter: 'outfile',
  },
  BAD_ADDRESS: {
    status: 400,
    description: '`infile` or a redirect is not an absolute http or https URL',
    parameter: 'infile',
  },
  PAGE_RANGE: { status: 400, description: 'the document does not have the selected pages' },
  INVALID_KEY: {
    status: 401,
    description: 'the API key is missing or invalid; a plain GET gets status 200 and no code instead',
    parameter: 'apikey',
  },
  BLOCKED_ADDRESS: {
    status: 403,
    description:
      'the URL does not lead to the public internet, its port is not allowed, or the account may not use the bucket',
    parameter: 'infile',
  },
  INVALID_LINK: {
    status: 403,
    description: 'the signed link was changed or has expired, or its key is not valid',
  },
  NOT_FOUND: {
    status: 404,
    description: 'there is no such path; send conversion requests to `/api/`',
    message: 'Not found. Send conversion requests to /api/.',
  },
  REQUEST_IN_PROGRESS: {
    status: 409,
    description: 'a request with the same `Idempotency-Key` is still running; see `Retry-After`',
    message: 'A request with this Idempotency-Key is still in progress. Retry in 5 seconds.',
    retryAfter: 5,
  },
  METHOD_NOT_ALLOWED: { status: 405, description: 'the path does not accept the method; see `Allow`' },
  SOURCE_TOO_LARGE: {
    status: 413,
    description: 'the source has too many bytes, pages or pixels',
    parameter: 'infile',
  },
  RESULT_TOO_LARGE: { status: 413, description: 'the result would have too many bytes, files or pixels' },
  UNSUPPORTED_SOURCE: {
    status: 415,
    description: 'the tool cannot read this type of source',
    parameter: 'infile',
  },
  CORRUPT_SOURCE: { status: 422, description: 'the source is damaged or empty', parameter: 'infile' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    description: 'the `Idempotency-Key` belongs to another request of the last 24 hours',
    message: 'This Idempotency-Key was used for another request. Use a new one for each request.',
  },
  PASSWORD_REQUIRED: { status: 422, description: 'the source is encrypted and no password was given' },
  WRONG_PASSWORD: { status: 422, description: 'the password is wrong' },
  CONVERSION_FAILED: {
    status: 422,
    description: 'the engine failed on this source',
    message: 'The conversion produced no output.',
  },
  SOURCE_STATUS: {
    status: 424,
    description: 'the source server returned an error status, or the bucket refused the read',
    parameter: 'infile',
  },
  SOURCE_UNREACHABLE: {
    status: 424,
    description: 'the source server could not be reached or closed the connection',
    parameter: 'infile',
  },
  TARGET_FAILED: {
    status: 424,
    description: 'the bucket in `_to` refused the result or could not be reached',
    parameter: '_to',
  },
  RATE_LIMITED: { status: 429, description: 'too many requests; see `Retry-After`' },
  QUOTA_EXCEEDED: { status: 429, description: 'the quota of the account is used up; see `Retry-After`' },
  INTERNAL: {
    status: 500,
    description: 'an internal error; the cause is in the log',
    message: 'Internal error. It has been logged.',
  },
  OVERLOADED: {
    status: 503,
    description: 'the service is at capacity or cannot read its accounts; see `Retry-After`',
    message: 'The service is at capacity. Retry in 5 seconds.',
    retryAfter: 5,
  },
  SOURCE_TIMEOUT: { status: 504, description: 'the source server was too slow', parameter: 'infile' },
  TIMED_OUT: { status: 504, description: 'the conversion timed out' },
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type ErrorCode = keyof typeof ERRORS;
type CodeWithMessage = {
  [Code in ErrorCode]: (typeof ERRORS)[Code] extends { message: string } ? Code : never;
}[ErrorCode];

/** Details of errors by their code, for other code and for the sentences of engines. They are never sent to the caller. */
interface ErrorDetails {
  /** CPU seconds that the layout of a document may take, or whether all slides are hidden. */
  readonly CONVERSION_FAILED: { readonly seconds: number; readonly hidden: number };
  /** Number of conversions that the account itself may have in progress. Absent if others are to blame. */
  readonly OVERLOADED: { readonly share: number };
  /** Sheet of a spreadsheet that is too large, with its last cell. */
  readonly RESULT_TOO_LARGE: { readonly sheet: number; readonly cell: string };
  /** Sides of an image, and the maximum number of pixels. */
  readonly SOURCE_TOO_LARGE: { readonly width: number; readonly height: number; readonly max: number };
  /** Whether only the owners of certificates can open a PDF. */
  readonly UNSUPPORTED_SOURCE: { readonly needsCertificate: boolean };
}

/** A URL that the browser could not open may be in any error of a page. */
type AnyDetails = { readonly url?: string };
export type DetailsOf<Code extends ErrorCode> = AnyDetails &
  (Code extends keyof ErrorDetails ? Partial<ErrorDetails[Code]> : unknown);

interface ErrorOptions {
  readonly cause?: unknown;
  readonly parameter?: string | undefined;
  readonly index?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly issues?: readonly ConversionError[] | undefined;
}

type ErrorArguments =
  | [code: ErrorCode, message: string, options?: ErrorOptions & { readonly details?: AnyDetails | undefined }]
  | [code: CodeWithMessage, message?: undefined, options?: ErrorOptions]
  | {
      [Code in keyof ErrorDetails]: [
        code: Code,
        message: string,
        options: ErrorOptions & { readonly details?: DetailsOf<Code> | undefined },
      ];
    }[keyof ErrorDetails];

/** The part of an error that is passed between processes: never the cause, a stack or a path. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly message: string;
  /** Name of the parameter at fault. */
  readonly parameter?: string;
  /** Position of the file at fault among those of the parameter, from 0. */
  readonly index?: number;
  /** Seconds after which a retry may succeed. */
  readonly retryAfter?: number;
  /** The individual mistakes, if the message describes several. */
  readonly issues?: readonly ErrorReport[];
}

/** A report of another process, whose code may be unknown. Details and a cause stay in the process that receives it. */
export interface ReceivedReport extends Omit<ErrorReport, 'code' | 'issues'> {
  readonly code: string;
  readonly issues?: readonly ReceivedReport[];
  readonly details?: object | undefined;
  readonly cause?: unknown;
}

/**
 * An error of a conversion. `message` is sent to the caller, `cause` is only logged. The message is one or more
 * complete sentences that name the parameter, the rule and the value.
 */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  /** See `detailsOf`. */
  readonly details: object | undefined;

  /** Name of the parameter at fault, as the caller wrote it. */
  readonly parameter: string | undefined;

  /** Position of the file at fault among those of the parameter, from 0. */
  readonly index: number | undefined;

  /** The individual mistakes, if the message describes several. */
  readonly issues: readonly ConversionError[] | undefined;

  constructor(...[code, message, options = {}]: ErrorArguments) {
    const { stackTraceLimit } = Error;
    const kind: ErrorKind = ERRORS[code];
    // Stacks are not captured, because callers can cause many errors, stacks would take most of the time, and nobody
    // reads them.
    Error.stackTraceLimit = 0;
    super(message ?? kind.message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.parameter = options.parameter ?? kind.parameter;
    this.index = options.index;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.details = 'details' in options ? options.details : undefined;
    this.issues = options.issues;
  }

  /** Returns this error with `parameter` set, unless it already has one. */
  about(parameter: string): ConversionError {
    if (this.parameter !== undefined) return this;
    const { code, message, cause, retryAfter, details, issues } = this;
    return new ConversionError(code, message, { cause, details, parameter, retryAfter, issues });
  }

  /** Returns the details of an error with this code, and none for an error with another one. */
  detailsOf<Code extends ErrorCode>(code: Code): Partial<DetailsOf<Code>> {
    return this.code === code ? (this.details ?? {}) : {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  toReport(): ErrorReport {
    const { code, message, parameter, index, retryAfter, issues } = this;
    return {
      code,
      message,
      ...(parameter !== undefined && { parameter }),
      ...(index !== undefined && { index }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(issues && { issues: issues.map((issue) => issue.toReport()) }),
    };
  }

  /** Rebuilds an error that another process reported. An unknown code becomes `INTERNAL`. */
  static fromReport(report: ReceivedReport): ConversionError {
    if (!Object.hasOwn(ERRORS, report.code)) return ConversionError.from(report);
    const { code, message, issues, ...others } = report;
    const own = issues?.map((issue) => ConversionError.fromReport(issue));
    return new ConversionError(code as ErrorCode, message, { ...others, issues: own });
  }

  /** Converts anything thrown into an error for the caller. Errors of other classes stay private. */
  static from(thrown: unknown): ConversionError {
    if (thrown instanceof ConversionError) return thrown;
    if (isDiskFull(thrown)) {
      const message = 'The service has no free disk space. Retry in 60 seconds.';
      return new ConversionError('OVERLOADED', message, { cause: thrown, retryAfter: 60 });
    }
    return new ConversionError('INTERNAL', undefined, { cause: thrown });
  }
}

/** Makes an error about the source one about a file that an option names, such as `The image for '-composite'`. */
export function ofOption(error: unknown, file: string, option: string, index?: number): unknown {
  if (!(error instanceof ConversionError) || error.parameter !== 'infile') return error;
  const { code, message, retryAfter } = error;
  return new ConversionError(code, `${file} could not be loaded. ${message}`, {
    cause: error,
    parameter: option,
    index,
    retryAfter,
  });
}

/** SQLite's result code for a full disk: https://sqlite.org/rescode.html */
const SQLITE_FULL = 13;

/** Whether an error, one of its causes or the report of a worker tells of a full disk. */
export function isDiskFull(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const { code, errcode = 0, cause } = thrown as { code?: string; errcode?: number; cause?: unknown };
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || (errcode & 0xff) === SQLITE_FULL;
  return isFull || isDiskFull(cause);
}

/** Returns the error for a request that is rejected because the service is stopping. */
export function stoppingError(): ConversionError {
  return new ConversionError('OVERLOADED', 'The service is stopping. Retry in 5 seconds.');
}

/** Returns the error for a source that crashed an engine. */
export function engineCrashError(cause: unknown): ConversionError {
  const message = 'The conversion failed: the engine crashed on this source.';
  return new ConversionError('CONVERSION_FAILED', message, { cause });
}

/** Returns the error for a source without any bytes. */
export function emptySourceError(): ConversionError {
  return new ConversionError('CORRUPT_SOURCE', 'The source is empty.');
}

/** Returns the error for a source with more than `limit` bytes. */
export function sourceTooLargeError(limit: number): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The source exceeds the limit of ${megabytes(limit)}.`);
}

/** Returns the error for a result with more than `limit` bytes. */
export function resultTooLargeError(limit: number): ConversionError {
  return new ConversionError('RESULT_TOO_LARGE', `The result exceeds the limit of ${megabytes(limit)}.`);
}

/** Formats a number of bytes in MB. */
export function megabytes(bytes: number): string {
  return `${bytes / 1e6} MB`;
}
