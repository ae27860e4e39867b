import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from '../tool.ts';
import type { Doc2anyOptions } from './export-options.ts';

/** Page styles are out of reach of LibreOfficeKit's own calls; a macro of the profile, never of a document, sets them. */
const ARRANGE = `
Sub Arrange(landscape, fitWidth)
  Dim opened, document, styles, style, index, side
  opened = StarDesktop.Components.createEnumeration()
  document = opened.nextElement()
  styles = document.StyleFamilies.getByName("PageStyles")
  For index = 0 To styles.Count - 1
    style = styles.getByIndex(index)
    If landscape = "1" And Not style.IsLandscape Then
      style.IsLandscape = True
      side = style.Width
      style.Width = style.Height
      style.Height = side
    End If
    If fitWidth = "1" Then
      style.ScaleToPagesX = 1
      style.ScaleToPagesY = 0
    End If
  Next
End Sub
`;

const SHEETS: ReadonlySet<Kind> = new Set(['xls', 'xlsx', 'ods', 'csv']);
const SLIDES: ReadonlySet<Kind> = new Set(['ppt', 'pptx', 'odp']);

/** Answers the macro that lays out pages as asked for, `undefined` where they are to stay as they are; slides always do. */
export function arrangement({ landscape, fit }: Doc2anyOptions, kind: Kind): string | undefined {
  const fitWidth = fit === 'width' && SHEETS.has(kind);
  if (SLIDES.has(kind) || (!landscape && !fitWidth)) return undefined;
  return `macro:///Docmill.Pages.Arrange(${landscape ? 1 : 0},${fitWidth ? 1 : 0})`;
}

/** Writes the library that holds the macro into a profile's `user/basic`. */
export function writeLibrary(folder: string): void {
  const library = 'xmlns:library="http://openoffice.org/2000/library"';
  const script = 'xmlns:script="http://openoffice.org/2000/script" script:language="StarBasic"';
  const file = (name: string, text: string) =>
    writeFileSync(join(folder, name), `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`);
  mkdirSync(join(folder, 'Docmill'), { recursive: true });
  file(
    'script.xlc',
    `<library:libraries ${library}><library:library library:name="Docmill" library:link="false"/></library:libraries>`,
  );
  file(
    'Docmill/script.xlb',
    `<library:library ${library} library:name="Docmill" library:readonly="true" library:passwordprotected="false">` +
      '<library:element library:name="Pages"/></library:library>',
  );
  file('Docmill/Pages.xba', `<script:module ${script} script:name="Pages">${ARRANGE}</script:module>`);
}
