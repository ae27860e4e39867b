#ifndef ANNOTATIONS_H
#define ANNOTATIONS_H

#include "pdfium.h"

// Gives lines, polylines and polygons an appearance if they have none, because PDFium draws only other kinds without one.
void complete_annotations(FPDF_PAGE);

#endif
