import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OfficeOptions } from './options.ts';
import { COMPUTE_FIELDS } from './word/compute-fields.ts';
import { FIT_PAGES } from './word/fit-pages.ts';

/**
 * Changes documents, and saves them, in ways that LibreOfficeKit has no calls for. The macro is part of the service's
 * profile, never of a document, and checks which kind of document it runs on.
 */
const ARRANGE = `
Sub Arrange(landscape, fit, changes, title, author, subject, keywords, name, filter, options, sheet, pages, tight, fields)
  Dim opened, document, isText, isSheet
  opened = StarDesktop.Components.createEnumeration()
  document = opened.nextElement()
  isText = document.supportsService("com.sun.star.text.GenericTextDocument")
  isSheet = document.supportsService("com.sun.star.sheet.SpreadsheetDocument")
  If isText And changes <> "" Then ApplyChanges document, changes
  If isText Or isSheet Then ArrangePages document, landscape, fit
  If isSheet And fit = "sheet" Then HideEmptySheets document
  If tight = "1" Then JoinScripts document
  If title <> "" Then document.DocumentProperties.Title = Decode(title)
  If author <> "" Then document.DocumentProperties.Author = Decode(author)
  If subject <> "" Then document.DocumentProperties.Subject = Decode(subject)
  If keywords <> "" Then document.DocumentProperties.Keywords = Array(Decode(keywords))
  If isText And pages <> "" Then FitPages document, CLng(pages)
  If isText And fields = "1" Then ComputeFields document
  If name = "" Then Exit Sub
  If isSheet Then
    If sheet > document.Sheets.Count Then Exit Sub
  End If
  Store document, Decode(name), Decode(filter), Decode(options)
End Sub

' PowerPoint has no space between East Asian and Western text.
Sub JoinScripts(document)
  Dim families, family, styles, style, index
  families = document.StyleFamilies
  For family = 0 To families.Count - 1
    styles = families.getByIndex(family)
    For index = 0 To styles.Count - 1
      style = styles.getByIndex(index)
      If style.PropertySetInfo.hasPropertyByName("ParaIsCharacterDistance") Then style.ParaIsCharacterDistance = False
    Next
  Next
End Sub

Sub Store(document, name, filter, options)
  Dim values(1) As New com.sun.star.beans.PropertyValue, folders
  folders = Split(document.URL, "/")
  ReDim Preserve folders(UBound(folders) - 2)
  values(0).Name = "FilterName"
  values(0).Value = filter
  values(1).Name = "FilterOptions"
  values(1).Value = options
  document.storeToURL(Join(folders, "/") & "/" & name, values())
End Sub

Function Decode(digits)
  Dim index, text
  For index = 2 To Len(digits) Step 4
    text = text & Chr(CLng("&H" & Mid(digits, index, 4)))
  Next
  Decode = text
End Function

Sub ArrangePages(document, landscape, fit)
  Dim styles, style, index, side
  styles = document.StyleFamilies.getByName("PageStyles")
  For index = 0 To styles.Count - 1
    style = styles.getByIndex(index)
    If landscape = "1" And Not style.IsLandscape Then
      style.IsLandscape = True
      side = style.Width
      style.Width = style.Height
      style.Height = side
    End If
    If fit = "width" And style.PropertySetInfo.hasPropertyByName("ScaleToPagesX") Then
      style.ScaleToPagesX = 1
      style.ScaleToPagesY = 0
    End If
  Next
End Sub

' A page of an empty sheet would be too small for PDF readers. One that cannot be hidden, because it is the only one or the workbook
' is protected, gets a size.
Sub HideEmptySheets(document)
  Dim sheets, sheet, used, index, rest
  sheets = document.Sheets
  rest = 0
  For index = 0 To sheets.Count - 1
    If sheets.getByIndex(index).IsVisible Then rest = rest + 1
  Next
  For index = 0 To sheets.Count - 1
    sheet = sheets.getByIndex(index)
    used = sheet.createCursor()
    used.gotoEndOfUsedArea(False)
    If sheet.IsVisible And used.RangeAddress.EndColumn = 0 And used.RangeAddress.EndRow = 0 Then
      If sheet.getCellByPosition(0, 0).Type = com.sun.star.table.CellContentType.EMPTY And sheet.DrawPage.Count = 0 Then
        If rest > 1 Then sheet.IsVisible = False
        If sheet.IsVisible Then sheet.getCellByPosition(0, 0).String = " " Else rest = rest - 1
      End If
    End If
  Next
End Sub

Sub ApplyChanges(document, changes)
  Dim helper, none()
  If changes = "show" Then
    document.ShowChanges = True
    Exit Sub
  End If
  document.RecordChanges = False
  helper = createUnoService("com.sun.star.frame.DispatchHelper")
  If changes = "accept" Then
    helper.executeDispatch(document.CurrentController.Frame, ".uno:AcceptAllTrackedChanges", "", 0, none())
  Else
    helper.executeDispatch(document.CurrentController.Frame, ".uno:RejectAllTrackedChanges", "", 0, none())
  End If
End Sub
`;

const MODULES = { Pages: ARRANGE, Fitting: FIT_PAGES, Fields: COMPUTE_FIELDS };

/**
 * A file that the macro saves. LibreOfficeKit itself inserts a space after each comma in the options, which some filters
 * misread.
 */
export interface Stored {
  /** File name in the parent folder of the document's folder. */
  readonly name: string;
  /** Name of the export filter. */
  readonly filter: string;
  readonly options: string;
}

export interface MacroTasks {
  readonly stored?: Stored | undefined;
  /** Number of pages to fit a text document to, or 0 to fit it only to its marks. */
  readonly pages?: number | undefined;
  /** Whether East Asian and Western text have no space between them, as in PowerPoint. */
  readonly isTight?: boolean | undefined;
  /** Whether fields in headers or footers have to be computed for each page. */
  readonly hasPageFields?: boolean | undefined;
}

/**
 * Returns the URL of the macro that applies the options to an open document and does the tasks, or `undefined` if nothing
 * needs it.
 */
export function macroUrl(
  options: OfficeOptions,
  { stored, pages, isTight, hasPageFields }: MacroTasks,
): string | undefined {
  const { landscape, fit, changes, title, author, subject, keywords, sheet } = options;
  const texts = [title, author, subject, keywords];
  const isNeeded =
    landscape ||
    hasPageFields ||
    [fit, changes, ...texts, stored, pages, isTight].some((each) => each !== undefined);
  if (!isNeeded) return undefined;
  const file = [stored?.name, stored?.filter, stored?.options].map(encode);
  const values = [
    landscape ? '1' : '0',
    fit ?? '',
    changes ?? '',
    ...texts.map(encode),
    ...file,
    String(sheet ?? 1),
    String(pages ?? ''),
    isTight ? '1' : '',
    hasPageFields ? '1' : '',
  ];
  return `macro:///Docmill.Pages.Arrange(${values.map((value) => `"${value}"`).join(',')})`;
}

/** Encodes a caller's text as hexadecimal digits, which have no special meaning in a URL or in Basic. */
function encode(text: string | undefined): string {
  if (text === undefined) return '';
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `x${units.map((unit) => unit.toString(16).padStart(4, '0')).join('')}`;
}

/** Writes the library that holds the macros into a profile's `user/basic`. */
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
      `${Object.keys(MODULES)
        .map((name) => `<library:element library:name="${name}"/>`)
        .join('')}</library:library>`,
  );
  for (const [name, source] of Object.entries(MODULES)) {
    const escaped = source.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    file(`Docmill/${name}.xba`, `<script:module ${script} script:name="${name}">${escaped}</script:module>`);
  }
}
