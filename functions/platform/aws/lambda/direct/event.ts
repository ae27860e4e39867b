/**
 * The public event of every tool's function: what Step Functions, another Lambda function or the command line
 * sends. Names are those of the HTTP interface. `eventSchema` is the same as a JSON Schema for one tool.
 */
export interface ToolEvent {
  readonly version: 1;
  /** Absolute http or https URL of the source. */
  readonly infile: string;
  /** File name whose extension chooses the format; `%d` for a file per page, `.zip` for an archive of them. */
  readonly outfile: string;
  /** Options by name, including hyphens, in no order. */
  readonly options?: Readonly<Record<string, OptionValue>>;
  /** Further options as on a command line, for those whose order matters: `-crop 50x50+0+0 -resize 200x`. */
  readonly _args?: string;
  /** Where the result is uploaded. If absent, the result is part of the response. */
  readonly upload?: Upload;
}

/** A value, or the values of an option that may be given more than once. */
export type OptionValue = string | number | boolean | ReadonlyArray<string | number | boolean>;

/**
 * A presigned POST form, with the fields of the form, or a presigned PUT URL, which takes one file. The
 * form's `key` may contain `${filename}`, which is replaced by the name of each file.
 */
export interface Upload {
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Response of a tool's function to a `ToolEvent`. */
export interface ToolResult {
  readonly outputs: readonly ToolOutput[];
  /** Pages of the source document. */
  readonly pageCount?: number;
  /** Options that were accepted but have no effect. */
  readonly ignored: readonly string[];
  /** Sentences that say what the outputs lack, such as the missing part of a truncated image. */
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}

export interface ToolOutput {
  /** File name. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Page of the document, for a file per page. */
  readonly page?: number;
  /** Content, if nothing was uploaded. */
  readonly base64?: string;
}

/** Bytes of all outputs that fit into a response as base64: Lambda allows 6 MB. */
export const MAX_INLINE_BYTES = 4_500_000;

/** Stands for the name of each file in the `key` of an upload's form, as in S3's own forms. */
export const FILE_NAME = `\${filename}`;
