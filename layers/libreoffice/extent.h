#ifndef EXTENT_H
#define EXTENT_H

#include "kit.h"

// The last cell of a spreadsheet.
struct extent {
    int sheet;
    char cell[32];
};

// Format of its values in an error.
#define EXTENT_VALUES "\"sheet\":%d,\"cell\":\"%s\""

// Finds the sheet that extends furthest, if LibreOffice would search more than `max_pages` pages for content. A page has
// about 8 columns and 50 rows, and LibreOffice examines every page between two cells, about 200,000 per second.
// Returns false if there are fewer pages.
bool extends_too_far(LibreOfficeKitDocument *, double max_pages, struct extent *);

#endif
