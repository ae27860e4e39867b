// Parts that all Office Open XML packages have in common.
import { type LeakFile, quoted, type Target } from './archive.ts';

export const RELS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_RELS = 'http://schemas.openxmlformats.org/package/2006/relationships';
export const WORD = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELS}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"`;
export const SHEET = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELS}"`;
export const SLIDE = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${RELS}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`;
export const SIZE = '<a:ext cx="999999" cy="999999"/>';

/** A relationship of a part. External unless specified otherwise. */
export type Link = readonly [id: string, type: string, target: string, mode?: 'Internal'];

/** Writes the relationships of a part. */
export function relations(...links: readonly Link[]): string {
  const items = links.map(([id, type, target, mode = 'External']) => {
    const kind = type.includes(':') ? type : `${RELS}/${type}`;
    return `<Relationship Id="${id}" Type="${kind}" Target="${quoted(target)}" TargetMode="${mode}"/>`;
  });
  return `<?xml version="1.0"?><Relationships xmlns="${PACKAGE_RELS}">${items.join('')}</Relationships>`;
}

/** Writes the content types of a package. */
export function types(parts: Readonly<Record<string, string>>): string {
  const overrides = Object.entries(parts).map(
    ([part, type]) =>
      `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  return `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/><Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>${overrides.join('')}</Types>`;
}

/** Creates the leak files of one kind of document. */
export const files = <Parts>(
  extension: string,
  list: Readonly<Record<string, (target: Target) => Parts>>,
  write: (parts: Parts) => Promise<Buffer>,
): LeakFile[] =>
  Object.entries(list).map(([name, parts]) => ({
    name: `${extension}: ${name}`,
    extension,
    bytes: (target) => write(parts(target)),
  }));
