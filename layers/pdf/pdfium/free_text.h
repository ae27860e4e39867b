#ifndef FREE_TEXT_H
#define FREE_TEXT_H

#include "pdfium.h"

// Returns the operators that draw the text of an annotation in its rectangle, with a border of the same color unless
// its width is 0. The caller must free them. Returns NULL if there is no text, or if Helvetica lacks a character of
// it.
char *free_text_appearance(FPDF_ANNOTATION, const FS_RECTF *box, float border);

#endif
