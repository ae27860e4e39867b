// Finds features that PDFium reads wrongly, so that the document is adapted first; see `graph/layers.ts`.
#ifndef SURVEY_H
#define SURVEY_H

#include <stdbool.h>
#include <stddef.h>

// Features that a document may have.
struct survey {
    // Fonts that are not embedded, and whose codes are glyph numbers of the original font.
    bool foreign_glyphs;
    // Layers that are not displayed.
    bool hidden_layers;
    // Pages whose unit is not a point.
    bool user_units;
    // Annotations that are lines or polygons.
    bool bare_lines;
    // Bookmarks, links or named destinations.
    bool has_links;
    // A signature, whose range of bytes is never compressed.
    bool is_signed;
    // Metadata that claim PDF/A, which must be readable in the file.
    bool is_archive;
};

// Surveys the objects of a document, including those in object streams unless they are encrypted.
struct survey survey_document(const char *bytes, size_t size);

#endif
