// Text that is made bold by a line around its letters. PDFium widens lines to a pixel, which smears letters whose line is
// thinner, so the line gets the share of its ink instead.
#ifndef THIN_TEXT_H
#define THIN_TEXT_H

#include "pdfium.h"

// Lightens such lines of a page that is drawn with `scale` pixels a point.
void soften_thin_text(FPDF_PAGE page, double scale);
// Undoes that.
void restore_thin_text(void);

#endif
