/**
 * The public event of every tool's function, sent by Step Functions, another Lambda function or the command line.
 * Names are those of the HTTP interface. `eventSchema` describes the same as a JSON Schema for one tool.
 */
export interface ToolEvent {
  readonly version: 1;
  /** Absolute http or https URL of the source. */
  readonly infile: string;
  /** File name whose extension selects the format. `%d` writes a file per page, and `.zip` an archive of them. */
  readonly outfile: string;
  /** Options by name, including hyphens. Their order does not matter. */
  readonly options?: Readonly<Record<string, OptionValue>>;
  /** Further options as on a command line, for those whose order matters: `-crop 50x50+0+0 -resize 200x`. */
  readonly _args?: string;
  /** Where to upload the result. If absent, the result is part of the response. */
  readonly upload?: Upload;
}

/** A value, or the values of an option that may be given more than once. */
type OptionValue = string | number | boolean | ReadonlyArray<string | number | boolean>;

/**
 * A presigned POST form, with its fields, or a presigned PUT URL, which takes one file. The form's `key` may contain
 * `${filename}`, which is replaced by the name of each file.
 */
export interface Upload {
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The response of a tool's function to a `ToolEvent`. */
export interface ToolResult {
  readonly outputs: readonly ToolOutput[];
  /** Number of pages of the source document. */
  readonly pageCount?: number;
  /** Options that were accepted but have no effect. */
  readonly ignored: readonly string[];
  /** Sentences about missing parts of the outputs, such as the rest of a truncated image. */
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}

export interface ToolOutput {
  /** File name. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Page of the document, if there is a file per page. */
  readonly page?: number;
  /** Content as base64, if nothing was uploaded. */
  readonly base64?: string;
}

/** Placeholder for the name of each file in the `key` of an upload form, as in S3's own forms. */
export const FILE_NAME = `\${filename}`;
