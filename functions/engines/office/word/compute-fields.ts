import { PAGE_FIELD } from './page-fields.ts';

const MASTER = 'com.sun.star.text.fieldmaster.SetExpression.';

/**
 * LibreOffice Basic that computes fields of headers and footers for each page. A variable that a hidden field sets at the beginning of
 * a page has its value in the header and footer of that page.
 */
export const COMPUTE_FIELDS = `
' Limits how often LibreOffice looks for the value of a variable. A million takes two seconds.
Const MAX_LOOKUPS = 4000000

Sub ComputeFields(document)
  Dim all, field, found As New Collection, pages, values, index, first, count, cost
  On Error Goto Failed
  all = document.TextFields.createEnumeration()
  Do While all.hasMoreElements()
    field = all.nextElement()
    If field.supportsService("com.sun.star.text.textfield.docinfo.Custom") Then
      If Left(field.Name, Len("${PAGE_FIELD}")) = "${PAGE_FIELD}" Then found.Add(Array(Mid(field.Name, Len("${PAGE_FIELD}") + 1), field))
    End If
  Loop
  If found.Count = 0 Then Exit Sub
  pages = PagesOf(document)
  count = document.CurrentController.PageCount
  cost = 0
  ' One layout is enough for all changes.
  document.lockControllers()
  For index = 1 To found.Count
    first = 1
    Do While found(first)(0) <> found(index)(0)
      first = first + 1
    Loop
    If first = index Then
      values = ValuesOf(found(index)(0), pages, count)
      If Not IsEmpty(values) Then SetValues document, "${PAGE_FIELD}" & index, values, pages, found.Count, cost
    End If
    If document.TextFieldMasters.hasByName("${MASTER}" & "${PAGE_FIELD}" & first) Then Show document, "${PAGE_FIELD}" & first, found(index)(1)
  Next
Failed:
  ' Fields that were not replaced show the result that Word saved.
  If document.hasControllersLocked() Then document.unlockControllers()
  document.TextFields.refresh()
End Sub

' Returns the number of each page, its numbering and where its text begins.
Function PagesOf(document)
  Dim pages As New Collection, cursor, page, number, style
  cursor = document.CurrentController.getViewCursor()
  number = 0
  For page = 1 To document.CurrentController.PageCount
    number = number + 1
    If cursor.jumpToPage(page) Then
      cursor.jumpToStartOfPage()
      If FirstNumber(cursor) > 0 Then number = FirstNumber(cursor)
      style = document.StyleFamilies.getByName("PageStyles").getByName(cursor.PageStyleName)
      pages.Add(Array(number, style.NumberingType, PlaceOf(cursor)))
    End If
  Next
  PagesOf = pages
End Function

' Returns the page number that the text at a cursor begins with, or 0.
Function FirstNumber(cursor)
  Dim start, first
  FirstNumber = 0
  If IsEmpty(cursor.TextTable) Then
    start = cursor.Text.createTextCursorByRange(cursor.getStart())
    first = cursor.Text.createTextCursorByRange(start)
    first.gotoStartOfParagraph(False)
    If cursor.Text.compareRegionStarts(first, start) <> 0 Then Exit Function
    If Not IsEmpty(first.PageNumberOffset) And first.PageDescName <> "" Then FirstNumber = first.PageNumberOffset
  ElseIf Not IsEmpty(cursor.TextTable.PageNumberOffset) And cursor.Cell.CellName = "A1" Then
    FirstNumber = cursor.TextTable.PageNumberOffset
  End If
End Function

' Returns the result for each page, or nothing if one has none.
Function ValuesOf(program, pages, count)
  Dim values, steps, index
  On Error Goto Failed
  steps = Split(program, "_")
  ReDim values(1 To pages.Count)
  For index = 1 To pages.Count
    values(index) = CStr(Run(steps, pages(index), count))
  Next
  ValuesOf = values
Failed:
End Function

Function Run(steps, page, count)
  Dim stack(UBound(steps) + 3), top, instruction, a, b, c
  top = 2
  For Each instruction In steps
    If top > 2 Then a = stack(top - 2)
    b = stack(top - 1)
    c = stack(top)
    Select Case instruction
      Case "page", "pages", "shown"
        top = top + 1
        If instruction = "page" Then stack(top) = page(0)
        If instruction = "pages" Then stack(top) = count
        If instruction = "shown" Then stack(top) = InNumbering(page(0), page(1))
      Case "if"
        top = top - 2
        If CBool(NumberOf(stack(top))) Then stack(top) = b Else stack(top) = c
      Case "int"
        stack(top) = Fix(NumberOf(c))
      Case "abs"
        stack(top) = Abs(NumberOf(c))
      Case Else
        If Left(instruction, 1) = "x" Then
          top = top + 1
          stack(top) = Decode(instruction)
        Else
          top = top - 1
          stack(top) = Combine(instruction, b, c)
        End If
    End Select
  Next
  Run = stack(top)
End Function

Function Combine(instruction, b, c)
  If instruction = "cat" Then
    Combine = CStr(b) & CStr(c)
    Exit Function
  End If
  If InStr("eq ne lt gt le ge", instruction) > 0 Then
    If IsNumeric(b) And IsNumeric(c) Then
      b = NumberOf(b)
      c = NumberOf(c)
    End If
  Else
    If instruction <> "picture" Then c = NumberOf(c)
    b = NumberOf(b)
  End If
  Select Case instruction
    Case "eq" : Combine = Abs(b = c)
    Case "ne" : Combine = Abs(b <> c)
    Case "lt" : Combine = Abs(b < c)
    Case "gt" : Combine = Abs(b > c)
    Case "le" : Combine = Abs(b <= c)
    Case "ge" : Combine = Abs(b >= c)
    Case "add" : Combine = b + c
    Case "sub" : Combine = b - c
    Case "mul" : Combine = b * c
    Case "div" : Combine = b / c
    Case "pow" : Combine = b ^ c
    Case "mod" : Combine = b - c * Fix(b / c)
    Case "round" : Combine = Sgn(b) * Int(Abs(b) * 10 ^ c + 0.5) / 10 ^ c
    Case "picture" : Combine = Format(b, c)
    Case "numbering" : Combine = InNumbering(b, c)
  End Select
End Function

Function NumberOf(value)
  If VarType(value) = 8 Then NumberOf = Val(value) Else NumberOf = value
End Function

Function InNumbering(number, numbering)
  Dim values(1) As New com.sun.star.beans.PropertyValue, locale As New com.sun.star.lang.Locale
  If numbering = com.sun.star.style.NumberingType.ARABIC Then
    InNumbering = number
  Else
    values(0).Name = "NumberingType"
    values(0).Value = numbering
    values(1).Name = "Value"
    values(1).Value = number
    InNumbering = createUnoService("com.sun.star.text.DefaultNumberingProvider").makeNumberingString(values, locale)
  End If
End Function

' Sets a variable where a page begins that needs another value than the page before, unless there are too many.
Sub SetValues(document, name, values, pages, count, cost)
  Dim master, index, change, place, isNew
  For index = 1 To pages.Count
    If index = 1 Then isNew = True Else isNew = values(index) <> values(index - 1)
    If isNew Then cost = cost + pages.Count
  Next
  If cost * count > MAX_LOOKUPS Then Exit Sub
  master = document.createInstance("${MASTER.slice(0, -1)}")
  master.Name = name
  master.SubType = com.sun.star.text.SetVariableType.STRING
  For index = 1 To pages.Count
    If index = 1 Then isNew = True Else isNew = values(index) <> values(index - 1)
    If isNew Then
      place = pages(index)(2)
      change = document.createInstance("com.sun.star.text.textfield.SetExpression")
      change.attachTextFieldMaster(master)
      change.Content = values(index)
      change.IsVisible = False
      place.Text.insertTextContent(place, change, False)
    End If
  Next
End Sub

Sub Show(document, name, field)
  Dim shown
  shown = document.createInstance("com.sun.star.text.textfield.GetExpression")
  shown.Content = name
  shown.SubType = com.sun.star.text.SetVariableType.STRING
  field.Anchor.Text.insertTextContent(field.Anchor, shown, True)
End Sub

' Returns where a field does not divide a word: at the beginning of a paragraph, or before the second word of a page.
Function PlaceOf(cursor)
  Dim start, word, finish
  start = cursor.Text.createTextCursorByRange(cursor.getStart())
  word = cursor.Text.createTextCursorByRange(start)
  finish = cursor.Text.createTextCursorByRange(start)
  If Not start.isStartOfParagraph() Then
    word.gotoNextWord(False)
    finish.gotoEndOfParagraph(False)
    If cursor.Text.compareRegionStarts(word, finish) > 0 Then start = word
  End If
  PlaceOf = start
End Function
`;
