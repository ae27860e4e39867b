import { CompoundFile } from './compound-file.ts';
import type { Recognized } from './recognized.ts';

/** Answers what an OLE2 file is by the streams at its root, and whether they are encrypted; `undefined`: no office document. */
export function recognizeBinary(bytes: Buffer): Recognized | undefined {
  const file = new CompoundFile(bytes);
  // OOXML under a password; which of the three it is cannot be seen from outside.
  if (file.has('EncryptedPackage')) return { kind: 'docx', encrypted: true };
  if (file.has('WordDocument')) return { kind: 'doc', encrypted: isWordEncrypted(file) };
  if (file.has('Workbook')) return { kind: 'xls', encrypted: isSheetEncrypted(file, 'Workbook') };
  if (file.has('Book')) return { kind: 'xls', encrypted: isSheetEncrypted(file, 'Book') };
  if (file.has('PowerPoint Document')) return { kind: 'ppt', encrypted: isShowEncrypted(file) };
  return undefined;
}

/** [MS-DOC] 2.5.2: bit fEncrypted of the FIB. */
function isWordEncrypted(file: CompoundFile): boolean {
  const information = file.head('WordDocument', 12);
  return information.length === 12 && (information.readUInt16LE(10) & 0x0100) !== 0;
}

/** [MS-XLS] 2.4.117: a FilePass record among the first ones. */
function isSheetEncrypted(file: CompoundFile, stream: string): boolean {
  const [FILE_PASS, END_OF_PART] = [0x2f, 0x0a];
  const records = file.head(stream, 8192);
  for (let at = 0; at + 4 <= records.length; at += 4 + records.readUInt16LE(at + 2)) {
    const type = records.readUInt16LE(at);
    if (type === FILE_PASS) return true;
    if (type === END_OF_PART) return false;
  }
  return false;
}

/** [MS-PPT] 2.3.2: headerToken of CurrentUserAtom, and a document summary that went the same way. */
function isShowEncrypted(file: CompoundFile): boolean {
  const user = file.head('Current User', 16);
  const token = user.length === 16 ? user.readUInt32LE(12) : 0;
  return token === 0xf3d1c4df || file.has('EncryptedSummary');
}
