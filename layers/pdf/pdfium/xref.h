// Checks cross-reference tables, because PDFium drops objects that are not where their table says.
#ifndef XREF_H
#define XREF_H

#include <stddef.h>

enum xref_state {
    XREF_SOUND,
    // An object is not where the table says.
    XREF_BROKEN,
    // The table is compressed, PDFium has found the objects without it, or it declares objects free, which may exist.
    XREF_UNKNOWN,
};

// Checks the tables of a file, whose bytes must be followed by a zero.
enum xref_state check_xref(const char *bytes, size_t size);

// Makes PDFium search for the objects instead of reading the tables.
void hide_xref(char *bytes, size_t size);

enum { TRAILER_SIZE = 64 };

// Writes a trailer that names the last catalog of a file whose end is missing. Returns its length, or 0 if there is
// no catalog.
size_t write_trailer(const char *bytes, size_t size, char trailer[TRAILER_SIZE]);

#endif
