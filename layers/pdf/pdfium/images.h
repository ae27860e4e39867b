#ifndef IMAGES_H
#define IMAGES_H

#include <stdbool.h>

#include "pdfium.h"

// Returns whether a page has an image that PDFium is known to decode incorrectly. Reports SOURCE_TOO_LARGE and exits
// if an image has too many pixels.
bool has_misread_image(FPDF_PAGE);

#endif
