#ifndef ANNOTATIONS_H
#define ANNOTATIONS_H

#include <stdbool.h>

#include "pdfium.h"

// Gives lines, polylines, polygons, texts and links with a border an appearance if they have none, because PDFium
// does not draw them without one. Extends the rectangles of ink, to which PDFium clips the appearance that it draws.
void complete_annotations(FPDF_PAGE);

bool has_fields(FPDF_PAGE);

#endif
