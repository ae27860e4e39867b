import { Readable } from 'node:stream';
import { createUploadId } from '../../platform/storage.ts';
import { MAX_URL_LENGTH, type Parameter } from '../../shared/options/option.ts';
import { asUtf8, readDataUrl, typeOfDataUrl, typeOfMarkup } from '../../shared/source/data-url.ts';
import { extensionOf, type FilePart } from './multipart.ts';

/** Whether a value in a body is long and no URL, so that it is the content of a file if its parameter takes one. */
export function isLong({ name, value }: Parameter): boolean {
  if (value.length <= MAX_URL_LENGTH) return false;
  return name === 'infile' ? /^(data:|\s*<)/i.test(value) : !/^https?:/i.test(value);
}

/** Returns a file with a long value, and the parameter that names the file. */
export function fileOf({ name, value }: Parameter): {
  readonly file: FilePart;
  readonly parameter: Parameter;
} {
  const isData = /^data:/i.test(value);
  const contentType = isData
    ? typeOfDataUrl(value, name)
    : name === 'infile'
      ? (typeOfMarkup(value) ?? '')
      : '';
  const id = createUploadId(`source${extensionOf(contentType)}`);
  let text = value;
  const isMarkup = !isData && contentType !== '';
  // Decoded when it is stored, because the key may not have been checked yet. The text is not kept while the call waits.
  async function* bytes() {
    const sent = text;
    text = '';
    yield isData ? readDataUrl(sent, name).content : Buffer.from(isMarkup ? asUtf8(sent) : sent);
  }
  const content = Readable.from(bytes(), { objectMode: false });
  return {
    file: { name, fileName: '', contentType, content, id },
    parameter: { name, value: `upload:${id}` },
  };
}
