// Replacement texts for a page's glyphs, such as a whole word for its parts (ISO 32000-2, 14.9.4).
#ifndef REPLACEMENTS_H
#define REPLACEMENTS_H

#include <stdbool.h>

#include "pdfium.h"

struct replacement {
    FPDF_PAGEOBJECTMARK mark;
    // One of the objects with this mark.
    FPDF_PAGEOBJECT object;
    // A text string in one of the encodings of PDF.
    unsigned char *text;
    unsigned long length;
    bool written;
};

struct replacements {
    struct replacement *list;
    size_t count, capacity;
};

// Removes the texts from a page, because PDFium loses letters of lines that have them. Fails the request when out of
// memory.
struct replacements take_replacements(FPDF_PAGE page);

// Returns the text for the glyphs of an object, or NULL.
struct replacement *replacement_of(const struct replacements *replacements, FPDF_PAGEOBJECT object);

// Puts the texts back, because pages may share them.
void put_back_replacements(struct replacements *replacements, FPDF_DOCUMENT document);

#endif
