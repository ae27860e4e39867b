#ifndef PICTURES_H
#define PICTURES_H

#include <stdbool.h>

#include "pdfium.h"

// Returns whether a page has a picture that PDFium is known to decode incorrectly. Reports SOURCE_TOO_LARGE and exits
// if a picture has too many pixels.
bool has_misread_picture(FPDF_PAGE);

#endif
