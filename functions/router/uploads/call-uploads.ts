import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Buckets, openObject } from '../../buckets/buckets.ts';
import { type ConversionRequest, type SampleUrl, withSamples } from '../../conversion/request.ts';
import {
  createUploadId,
  type Storage,
  type Uploads,
  uploadGoneError,
  uploadKeyOf,
} from '../../platform/storage.ts';
import { ConversionError, ofOption, sourceTooLargeError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { isBucketUrl, isSentFile, type Parameter } from '../../shared/options/option.ts';
import { replaceSources, sourcesIn, takesSource } from '../../shared/options/sources.ts';
import { quote } from '../../shared/quote.ts';
import { readDataUrl } from '../../shared/source/data-url.ts';
import { HEAD_BYTES, type SourceFacts } from '../../shared/source/file-kind.ts';
import type { ConversionLimits, PageFile, Tool } from '../../shared/tool.ts';
import type { Body } from './body.ts';
import { fileOf, isLong } from './long-values.ts';
import { extensionOf, type FilePart, isFile } from './multipart.ts';

interface Dependencies {
  readonly tools: readonly Tool[];
  readonly sampleUrl?: SampleUrl | undefined;
  readonly uploads?: Uploads | undefined;
  readonly buckets?: Buckets | undefined;
  readonly log: Log;
  readonly storage: Pick<Storage, 'url'>;
  readonly limits: Pick<ConversionLimits, 'sourceBytes'>;
}

/** A request whose source can be downloaded. */
export interface OpenedRequest extends ConversionRequest {
  /** The files of an uploaded page, starting with the page itself. */
  readonly files?: readonly PageFile[];
  /** The URLs of sources that were sent. */
  readonly sent?: readonly string[];
}

/** The uploads of a job, by their object keys. */
export interface SavedUploads {
  readonly assets: ReadonlyArray<{ readonly path: string; readonly objectKey: string }>;
  /** Files that were sent with the job and are deleted when it ends. */
  readonly objectKeys: readonly string[];
  /** Earlier uploads that it needs. */
  readonly others: readonly string[];
}

/** The sources that were sent with one call. They are deleted when it ends. */
export class CallUploads {
  readonly #account: string;
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;
  readonly #assets: { readonly path: string; readonly objectKey: string }[] = [];
  readonly #objectKeys: string[] = [];
  /** Uploads that this call may use and does not delete. */
  readonly #others: string[] = [];
  /** Sources that are neither http nor https URLs. */
  readonly #places = new Map<string, Promise<PageFile>>();
  /** Facts about received sources by the ID of the upload. */
  readonly #facts = new Map<string, SourceFacts>();
  /** Hashes the content of all files. */
  readonly #hash: Hash | undefined;
  #bytesLeft: number;

  /** `isHashed` says whether `identify` is called. `saved` is what `save` has returned. */
  constructor(
    account: string,
    dependencies: Dependencies,
    signal: AbortSignal,
    {
      isHashed = false,
      saved,
    }: { readonly isHashed?: boolean; readonly saved?: SavedUploads | undefined } = {},
  ) {
    this.#account = account;
    this.#dependencies = dependencies;
    this.#signal = signal;
    this.#hash = isHashed ? createHash('sha256') : undefined;
    this.#bytesLeft = dependencies.limits.sourceBytes;
    this.#assets.push(...(saved?.assets ?? []));
    this.#others.push(...(saved?.objectKeys ?? []), ...(saved?.others ?? []));
  }

  /**
   * Keeps the uploads of a request until `time`, in epoch milliseconds, for a job that will open them with another
   * `CallUploads`. @throws ConversionError for an upload that does not exist
   */
  async save({ source, tool, options }: ConversionRequest, time: number): Promise<SavedUploads> {
    const sources = [source, ...[...sourcesIn(tool, options)].map(([each]) => each)];
    const ids = sources.filter((each) => each.startsWith('upload:'));
    const named = ids.map((id) => uploadKeyOf(this.#account, id.slice('upload:'.length)));
    const others = named.filter((objectKey) => !this.#objectKeys.includes(objectKey));
    for (const objectKey of others) await this.#checkStored(objectKey);
    const objectKeys = this.#objectKeys.splice(0);
    for (const each of [...objectKeys, ...others]) await this.#dependencies.uploads?.keep?.(each, time);
    return { assets: this.#assets, objectKeys, others };
  }

  /** Stores the files of a body and returns its parameters after `query`. A file becomes `infile=upload:ID`. */
  async receive({ rest }: Body, query: readonly Parameter[]): Promise<Parameter[]> {
    const { tools } = this.#dependencies;
    const parameters: Parameter[] = [];
    const receiveSource = (part: FilePart) =>
      this.#receiveSource(part).catch((thrown: unknown) => {
        if (part.name === 'infile') throw thrown;
        const index = [...query, ...parameters].filter(({ name }) => name === part.name).length;
        throw ofOption(thrown, `The file for '${part.name}'`, part.name, index);
      });
    for await (const part of rest) {
      if (!isFile(part) && isLong(part) && takesSource(tools, part.name)) {
        const { file, parameter } = fileOf(part);
        await receiveSource(file);
        parameters.push(parameter);
      } else if (!isFile(part)) parameters.push(...(await withSamples([part], this.#dependencies)));
      else if (part.id !== undefined) await receiveSource(part);
      else if (part.name === 'asset') await this.#receiveAsset(part);
      else if (takesSource(tools, part.name)) parameters.push(await receiveSource(part));
      else {
        const message = `Unknown file field ${quote(part.name)}. Use 'infile', 'asset', or the name of an option whose value is a URL.`;
        throw new ConversionError('UNKNOWN_PARAMETER', message, { parameter: part.name });
      }
    }
    return parameters;
  }

  /** Returns the request with URLs that a tool can download. */
  async open(accepted: ConversionRequest): Promise<OpenedRequest> {
    const { request, sent } = await this.#openOptions(accepted);
    const opened = await this.#openSource(request);
    const all = opened.source === request.source ? sent : [opened.source, ...sent];
    return all.length > 0 ? { ...opened, sent: all } : opened;
  }

  /** Returns the request with URLs in place of the files that options name, and these URLs. */
  async #openOptions(request: ConversionRequest): Promise<{ request: ConversionRequest; sent: string[] }> {
    const { tool, options } = request;
    const urls = new Map<string, string>();
    for (const [source, option] of sourcesIn(tool, options)) {
      if (isSentFile(source)) urls.set(source, (await this.#placeOf(source, option)).url);
    }
    if (urls.size === 0) return { request, sent: [] };
    const replaced = replaceSources(tool, options, (source) => urls.get(source) ?? source);
    return { request: { ...request, options: replaced }, sent: [...urls.values()] };
  }

  async #openSource(request: ConversionRequest): Promise<OpenedRequest> {
    const { source, tool } = request;
    const isUrl = /^https?:/.test(source);
    if (this.#assets.length > 0 && (isUrl || tool.source === 'file')) {
      const message = "'asset' files require html2pdf or html2image and an uploaded page as 'infile'.";
      throw new ConversionError('BAD_PARAMETER', message, { parameter: 'asset' });
    }
    if (isUrl) return request;
    const page = await this.#placeOf(source);
    if (tool.source === 'file') return { ...request, source: page.url };
    const assets = this.#assets.map(async ({ path, objectKey: asset }) => ({
      path,
      url: await this.#dependencies.storage.url(asset),
    }));
    return { ...request, source: page.url, files: [page, ...(await Promise.all(assets))] };
  }

  /** Returns where the beginning of a source can be read, or the facts about one that this call has received. */
  async locate(source: string): Promise<{ readonly url: string; readonly facts?: SourceFacts | undefined }> {
    if (/^https?:/.test(source)) return { url: source };
    if (/^data:/i.test(source)) {
      const { contentType, content } = readDataUrl(source);
      return { url: '', facts: { head: content.toString('latin1', 0, HEAD_BYTES), name: '', contentType } };
    }
    const facts = this.#facts.get(source.slice('upload:'.length));
    return { url: facts ? '' : (await this.#placeOf(source)).url, facts };
  }

  async #urlOf(id: string): Promise<string> {
    const objectKey = uploadKeyOf(this.#account, id);
    await this.#checkStored(objectKey);
    return this.#dependencies.storage.url(objectKey);
  }

  async #checkStored(objectKey: string): Promise<void> {
    if (this.#objectKeys.includes(objectKey) || this.#others.includes(objectKey)) return;
    if (!(await this.#dependencies.uploads?.exists(objectKey))) throw uploadGoneError();
  }

  /**
   * Returns a text about a request with the content of the files that it has sent in place of their IDs, which differ
   * each time.
   */
  identify(text: string): string {
    const ids = this.#objectKeys.map((objectKey) => objectKey.split('/').at(-2)!);
    const shared = ids.reduce((left, id) => left.replaceAll(id, 'sent'), text);
    return `${shared} ${ids.length > 0 ? this.#hash!.copy().digest('hex') : ''}`;
  }

  /** Deletes everything that this call has uploaded. */
  async close(): Promise<void> {
    const account = this.#account;
    await Promise.all(
      this.#objectKeys.map((objectKey) => this.#dependencies.uploads?.remove({ account, objectKey })),
    );
  }

  async #receiveSource(part: FilePart): Promise<Parameter> {
    const { name: parameter, fileName, contentType, content } = part;
    const name = fileName === '' ? `source${extensionOf(contentType)}` : fileName;
    let head = '';
    async function* watched() {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        if (head.length < HEAD_BYTES) head += chunk.toString('latin1', 0, HEAD_BYTES - head.length);
        yield chunk;
      }
    }
    const id = await this.#store(name, Readable.from(watched(), { objectMode: false }), part.id);
    this.#facts.set(id, { head, name: fileName, contentType });
    return { name: parameter, value: `upload:${id}` };
  }

  /** Returns the name of a sent file or an object, and where a tool can download it. Stores a `data:` URL. */
  #placeOf(source: string, parameter = 'infile'): Promise<PageFile> {
    const place = this.#places.get(source) ?? this.#open(source, parameter);
    this.#places.set(source, place);
    return place;
  }

  async #open(source: string, parameter: string): Promise<PageFile> {
    if (isBucketUrl(source)) {
      const id = createUploadId(source);
      const object = { url: source, parameter, account: this.#account, signal: this.#signal };
      const receive = async (content: Readable) => this.#urlOf(await this.#store(id, content, id));
      return { path: nameIn(id), url: await openObject(object, this.#dependencies, receive) };
    }
    const isData = /^data:/i.test(source);
    const id = isData ? await this.#storeData(source, parameter) : source.slice('upload:'.length);
    return { path: nameIn(id), url: await this.#urlOf(id) };
  }

  async #receiveAsset({ fileName, content }: FilePart): Promise<void> {
    const path = pathOf(fileName);
    const id = await this.#store(path, content);
    this.#assets.push({ path, objectKey: uploadKeyOf(this.#account, id) });
  }

  async #storeData(url: string, parameter?: string): Promise<string> {
    const { contentType, content } = readDataUrl(url, parameter);
    return this.#store(`source${extensionOf(contentType)}`, Readable.from([content]));
  }

  async #store(name: string, content: Readable, id = createUploadId(name)): Promise<string> {
    const { uploads, limits } = this.#dependencies;
    if (!uploads) throw new Error('A file was received by a service without uploads.');
    const objectKey = uploadKeyOf(this.#account, id);
    if (this.#bytesLeft <= 0) throw sourceTooLargeError(limits.sourceBytes);
    const upload = {
      objectKey,
      account: this.#account,
      maxBytes: this.#bytesLeft,
      content: this.#hash ? hashed(content, this.#hash, name) : content,
    };
    const bytes = await uploads.receive(upload, this.#signal).catch((thrown: unknown) => {
      // The storage only knows how much of the limit earlier files have left.
      const isTooLarge = thrown instanceof ConversionError && thrown.code === 'SOURCE_TOO_LARGE';
      throw isTooLarge ? sourceTooLargeError(limits.sourceBytes) : thrown;
    });
    this.#objectKeys.push(objectKey);
    this.#bytesLeft -= bytes;
    return id;
  }
}

/** Returns the content of a file, and hashes it with its name while it is read. */
function hashed(content: Readable, hash: Hash, name: string): Readable {
  async function* watched() {
    hash.update(`${name} `);
    for await (const chunk of content as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return Readable.from(watched(), { objectMode: false });
}

/** Returns the file name in the ID of an upload. */
const nameIn = (id: string) => id.slice(id.indexOf('/') + 1);

/** Returns the path of an asset relative to its page. */
function pathOf(fileName: string): string {
  const path = fileName.replaceAll('\\', '/').replace(/^(\.?\/)+/, '');
  const isValid = path !== '' && path.length <= 500 && !/(^|\/)\.\.?(\/|$)|\/\/|\p{Cc}/u.test(path);
  if (isValid) return path;
  throw new ConversionError(
    'BAD_PARAMETER',
    `The file name of an 'asset' must be its path relative to the page, such as images/a.png, got ${quote(fileName)}.`,
    { parameter: 'asset' },
  );
}
