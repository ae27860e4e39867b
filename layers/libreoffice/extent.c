#include "extent.h"

#include <stdio.h>

// Formats the name of a cell, such as XFD1048576, from its indices.
static void name_cell(char name[32], long column, long row)
{
    char letters[8];
    int at = sizeof letters;
    for (letters[--at] = 0; column >= 0 && at > 0; column = column / 26 - 1)
        letters[--at] = (char)('A' + column % 26);
    snprintf(name, 32, "%s%ld", letters + at, row + 1);
}

bool extends_too_far(LibreOfficeKitDocument *document, double max_pages, struct extent *extent)
{
    if (max_pages <= 0 || document->pClass->getDocumentType(document) != LOK_DOCTYPE_SPREADSHEET)
        return false;
    const int count = document->pClass->getParts(document);
    double pages = 0, largest = 0;
    for (int part = 0; part < count; part++) {
        long column = 0, row = 0;
        document->pClass->getDataArea(document, part, &column, &row);
        const double own = (column / 8 + 1.0) * (row / 50 + 1.0);
        pages += own;
        if (own <= largest)
            continue;
        largest = own;
        extent->sheet = part + 1;
        name_cell(extent->cell, column, row);
    }
    return pages > max_pages;
}
