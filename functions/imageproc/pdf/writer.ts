import { closeSync, openSync, writeSync } from 'node:fs';

/** Writes a PDF object by object, so that only one image at a time is in memory. */
export class PdfWriter {
  readonly #file: number;
  readonly #offsets: number[] = [];
  #position = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
    // The bytes above 127 tell programs that the file is not text.
    this.#write(Buffer.from('%PDF-1.5\n%\xe2\xe3\xcf\xd3\n', 'latin1'));
  }

  /** Reserves the number of an object that is written later. */
  reserve(): number {
    return this.#offsets.push(0);
  }

  /** Writes an object and returns its number. */
  object(content: string, number = this.reserve()): number {
    this.#offsets[number - 1] = this.#position;
    this.#write(Buffer.from(`${number} 0 obj\n${content}\nendobj\n`, 'latin1'));
    return number;
  }

  stream(dictionary: string, data: Uint8Array): number {
    const number = this.reserve();
    this.#offsets[number - 1] = this.#position;
    this.#write(
      Buffer.from(`${number} 0 obj\n<< ${dictionary} /Length ${data.length} >>\nstream\n`, 'latin1'),
    );
    this.#write(data);
    this.#write(Buffer.from('\nendstream\nendobj\n'));
    return number;
  }

  close(catalog: number): void {
    const size = this.#offsets.length + 1;
    const entries = this.#offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
    const start = this.#position;
    const trailer = `trailer\n<< /Size ${size} /Root ${catalog} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
    this.#write(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${entries.join('')}${trailer}`, 'latin1'));
    closeSync(this.#file);
  }

  #write(bytes: Uint8Array): void {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(this.#file, bytes, sent);
    this.#position += bytes.length;
  }
}
