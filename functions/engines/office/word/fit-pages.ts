import { BOOKMARK } from './page-marks.ts';

/**
 * LibreOffice Basic that moves the page breaks of an open text document to where Word had them. Heights are in hundredths of a
 * millimeter.
 */
export const FIT_PAGES = `
' Limits the changes to a document, in characters that LibreOffice lays out again.
Const MAX_COST = 120000
' A page has to be laid out again, too.
Const COST_OF_PAGE = 30
Const COST_OF_PARAGRAPH = 50
' Ends the attempts early in a document whose lines are higher or longer than Word's throughout.
Const COST_OF_FAILURE = 5
' Characters of a paragraph from which the costs grow with the square, because it is laid out from its beginning.
Const LONG_PARAGRAPH = 2000
' Maximum difference of two lines that are at the same height.
Const SAME_LINE = 20
' Beyond this height, a mark is on the wrong page, and so are probably those that follow.
Const FAR = 6000
' Content of a page, relative to the fullest one, that may be the end of something that almost fits on the page before.
Const SHORT_END = 0.25
Const LONG_END = 0.93

' Word's pages begin at bookmarks. count is the number of pages that it recorded, or 0 if unknown.
Sub FitPages(document, count)
  Dim cursor, budget, found
  cursor = document.CurrentController.getViewCursor()
  budget = MAX_COST
  document.RecordChanges = False
  found = CountPages(document, cursor)
  ' Word did not record a number that is so far away when it saved this text.
  If count > 0 And Abs(found - count) > 1 + count / 4 Then Exit Sub
  FitMarks document, cursor, count, found, budget
  If count = 0 Then Exit Sub
  PullBackEnds document, cursor, count, 0, SHORT_END, budget
  PullBackEnds document, cursor, count, SHORT_END, LONG_END, budget
End Sub

' Does not count the pages that LibreOffice inserts to keep odd numbers on the right, because they are not exported.
Function CountPages(document, cursor)
  Dim page
  CountPages = 0
  For page = 1 To document.CurrentController.PageCount
    If cursor.jumpToPage(page) Then CountPages = CountPages + 1
  Next
End Function

' Fits the pages between bookmarks, in their order. A document must not become longer than it was and should be.
Sub FitMarks(document, cursor, count, found, budget)
  Dim marks, index, start, mark, offset, limit
  limit = count
  If found > limit Then limit = found
  marks = document.Bookmarks
  start = document.Text.getStart()
  offset = 0
  index = 1
  Do While marks.hasByName("${BOOKMARK}" & index)
    mark = marks.getByName("${BOOKMARK}" & index).Anchor
    offset = FitMark(document, cursor, start, mark, offset > FAR, found > count, count > 0, budget)
    start = mark
    index = index + 1
    If document.CurrentController.PageCount > limit Then
      If CountPages(document, cursor) > limit Then Exit Sub
    End If
  Loop
End Sub

' Makes a page begin at a mark: with a page break if the page before it has space left, or by making lines before the mark
' lower if they do not fit. Returns the height that remains above the mark.
Function FitMark(document, cursor, start, mark, isLost, mayShrink, mayBreak, budget)
  Dim offset, first, cost, isShrunk
  On Error Goto Failed
  FitMark = 0
  If Not IsEmpty(mark.TextFrame) Then Exit Function
  cursor.gotoRange(start, False)
  first = cursor.getPage()
  offset = OffsetOf(document, cursor, mark)
  If offset > 0 And mayShrink And budget > 0 And cursor.getPage() > first Then
    Shrink document, cursor, ParagraphsBetween(document, start, mark), mark, budget
    offset = OffsetOf(document, cursor, mark)
    isShrunk = offset < 0
  End If
  If offset < 0 And isLost Then offset = FAR + 1
  If offset < 0 And (mayBreak Or isShrunk) Then
    cost = COST_OF_PAGE * document.CurrentController.PageCount + CostOfText(ParagraphAround(mark).String)
    If cost <= budget Then
      budget = budget - cost
      BreakBefore cursor, mark
    End If
  End If
  FitMark = offset
Failed:
End Function

' Returns 0 if the line of a mark begins a page. Otherwise, returns the height above it if the mark is in the upper half of its page,
' or -1.
Function OffsetOf(document, cursor, mark)
  Dim height, style
  cursor.gotoRange(mark, False)
  height = cursor.getPosition().Y
  style = document.StyleFamilies.getByName("PageStyles").getByName(cursor.PageStyleName)
  cursor.jumpToStartOfPage()
  height = height - cursor.getPosition().Y
  If height <= SAME_LINE Then
    OffsetOf = 0
  ElseIf height < (style.Height - style.TopMargin - style.BottomMargin) / 2 Then
    OffsetOf = height
  Else
    OffsetOf = -1
  End If
End Function

Function ParagraphAround(mark)
  Dim cursor
  cursor = mark.Text.createTextCursorByRange(mark.Start)
  cursor.gotoStartOfParagraph(False)
  cursor.gotoEndOfParagraph(True)
  ParagraphAround = cursor
End Function

' Rows of a table other than the first one cannot begin a page. A paragraph is divided where a line begins, so that its lines stay.
Sub BreakBefore(cursor, mark)
  Dim text, place, first, before, after, last, drop
  text = mark.Text
  If Not IsEmpty(mark.TextTable) Then
    If mark.Cell.CellName <> "A1" Or text.compareRegionStarts(text.getStart(), mark) <> 0 Then Exit Sub
    mark.TextTable.BreakType = com.sun.star.style.BreakType.PAGE_BEFORE
    Exit Sub
  End If
  cursor.gotoRange(mark, False)
  cursor.gotoStartOfLine(False)
  place = text.createTextCursorByRange(cursor.getStart())
  first = text.createTextCursorByRange(place)
  first.gotoStartOfParagraph(False)
  If text.compareRegionStarts(first, place) = 0 Then
    place.BreakType = com.sun.star.style.BreakType.PAGE_BEFORE
    Exit Sub
  End If
  before = text.createTextCursorByRange(place)
  before.goLeft(1, True)
  last = before.String
  ' A divided word would lose its hyphen.
  If place.ParaIsHyphenation And Trim(last) <> "" Then Exit Sub
  text.insertControlCharacter(place, com.sun.star.text.ControlCharacter.PARAGRAPH_BREAK, False)
  after = text.createTextCursorByRange(mark.Start)
  after.gotoStartOfParagraph(False)
  before = text.createTextCursorByRange(after)
  before.goLeft(1, False)
  before.ParaBottomMargin = 0
  If before.ParaAdjust = com.sun.star.style.ParagraphAdjust.BLOCK And last <> Chr(10) Then before.ParaLastLineAdjust = before.ParaAdjust
  after.BreakType = com.sun.star.style.BreakType.PAGE_BEFORE
  after.ParaTopMargin = 0
  after.ParaFirstLineIndent = 0
  after.NumberingIsNumber = False
  after.OutlineLevel = 0
  drop = after.DropCapFormat
  drop.Lines = 0
  after.DropCapFormat = drop
End Sub

' Makes lines lower, as little as is enough for a mark to begin its page or to be on the page before. Restores them if nothing is enough.
Sub Shrink(document, cursor, paragraphs, mark, budget)
  Dim factor, cost
  cost = CostOf(document, paragraphs)
  If paragraphs.Count = 0 Then cost = MAX_COST / 50
  For Each factor In Array(0.98, 0.95, 0.92)
    If cost > budget Then Exit For
    budget = budget - cost
    SetHeights paragraphs, factor
    If OffsetOf(document, cursor, mark) <= 0 Then Exit Sub
  Next
  SetHeights paragraphs, 1
  budget = budget - COST_OF_FAILURE * cost
End Sub

' Makes a document that is too long shorter, by pages that are not full, because what is on them may almost fit on the page before.
Sub PullBackEnds(document, cursor, count, least, most, budget)
  Dim page, height, full, isLong
  isLong = CountPages(document, cursor) > count
  If Not isLong Then Exit Sub
  For page = 1 To document.CurrentController.PageCount
    height = HeightOf(cursor, page)
    If height > full Then full = height
  Next
  page = 2
  Do While isLong And page <= document.CurrentController.PageCount And budget > 0
    height = HeightOf(cursor, page)
    If height >= full * least And height < full * most Then
      PullBack document, cursor, page, budget
      isLong = CountPages(document, cursor) > count
    End If
    page = page + 1
  Loop
End Sub

Function HeightOf(cursor, page)
  Dim top
  cursor.jumpToPage(page)
  cursor.jumpToStartOfPage()
  top = cursor.getPosition().Y
  cursor.jumpToEndOfPage()
  HeightOf = cursor.getPosition().Y - top
End Function

' Makes the lines of a page and of the one before it lower, until there is a page less.
Sub PullBack(document, cursor, page, budget)
  Dim finish, paragraphs, factor, cost, before
  On Error Goto Failed
  finish = cursor.getStart()
  cursor.jumpToPage(page - 1)
  cursor.jumpToStartOfPage()
  paragraphs = ParagraphsBetween(document, cursor.getStart(), finish)
  before = CountPages(document, cursor)
  cost = CostOf(document, paragraphs)
  budget = budget - COST_OF_PAGE * before
  If paragraphs.Count = 0 Then Exit Sub
  For Each factor In Array(0.97, 0.92)
    If cost > budget Then Exit For
    budget = budget - cost
    SetHeights paragraphs, factor
    If CountPages(document, cursor) < before Then Exit Sub
  Next
  SetHeights paragraphs, 1
  budget = budget - cost
Failed:
End Sub

' Returns the paragraphs from one place to another, and those of the tables between them. Each comes with its line height in percent
' (0 if it is fixed) and the space above and below it. Returns none if a place is in a frame.
Function ParagraphsBetween(document, start, finish)
  Dim found As New Collection, none As New Collection, elements, element, isInside
  elements = document.Text.createEnumeration()
  isInside = False
  Do While elements.hasMoreElements()
    element = elements.nextElement()
    If Not isInside Then isInside = Contains(document, element, start)
    If isInside Then
      AddElement found, element
      If Contains(document, element, finish) Then
        ParagraphsBetween = found
        Exit Function
      End If
    End If
  Loop
  ParagraphsBetween = none
End Function

Function Contains(document, element, place)
  Contains = False
  If element.supportsService("com.sun.star.text.TextTable") Then
    If Not IsEmpty(place.TextTable) Then Contains = place.TextTable.Name = element.Name
  ElseIf IsEmpty(place.TextTable) Then
    Contains = document.Text.compareRegionEnds(element, place) <= 0
  End If
End Function

Sub AddElement(found, element)
  Dim name, elements, height
  If element.supportsService("com.sun.star.text.TextTable") Then
    For Each name In element.CellNames
      elements = element.getCellByName(name).createEnumeration()
      Do While elements.hasMoreElements()
        AddElement found, elements.nextElement()
      Loop
    Next
  Else
    height = 0
    If element.ParaLineSpacing.Mode = com.sun.star.style.LineSpacingMode.PROP Then height = element.ParaLineSpacing.Height
    found.Add(Array(element, height, element.ParaTopMargin, element.ParaBottomMargin))
  End If
End Sub

' Space between paragraphs changes more than lines, because that is harder to see.
Sub SetHeights(paragraphs, factor)
  Dim entry, paragraph, spacing
  For Each entry In paragraphs
    paragraph = entry(0)
    If entry(1) > 0 Then
      spacing = paragraph.ParaLineSpacing
      spacing.Height = CInt(entry(1) * factor)
      paragraph.ParaLineSpacing = spacing
    End If
    paragraph.ParaTopMargin = CLng(entry(2) * factor ^ 5)
    paragraph.ParaBottomMargin = CLng(entry(3) * factor ^ 5)
  Next
End Sub

Function CostOf(document, paragraphs)
  Dim entry
  CostOf = COST_OF_PAGE * document.CurrentController.PageCount
  For Each entry In paragraphs
    CostOf = CostOf + COST_OF_PARAGRAPH + CostOfText(entry(0).String)
  Next
End Function

Function CostOfText(text)
  CostOfText = CLng(Len(text) * (1 + Len(text) / LONG_PARAGRAPH))
End Function
`;
