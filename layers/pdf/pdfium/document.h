// The open document and its loaded page. Documents stay open between requests for the same file.
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <stdbool.h>
#include <yyjson.h>

#include "pdfium.h"

struct size {
    double width, height;
};

// Opens the file that the arguments name, unless it is already open. Returns NULL, or the code of the error.
const char *open_document(yyjson_val *arguments);

FPDF_DOCUMENT opened_document(void);

int page_count(void);

// Returns the size of a page, from 1, in points as displayed, or 0 x 0 if PDFium does not know it or it is implausible.
struct size page_size(int page);

// Loads a page, which stays loaded until another one is. Returns NULL if PDFium cannot.
FPDF_PAGE load_page(int page);

// Opens the document again without its tables, if these may be wrong and the page has contents then. Returns whether it did.
bool recover_contents(int page);

// Loads a page whose annotations and form fields, as displayed, have become part of its contents. The page stays so in the open
// document, which must not be drawn without them, or written, afterwards. Returns NULL if PDFium cannot.
FPDF_PAGE load_flat_page(int page);

// Whether the end of the file is missing. A page without contents may have lost them.
bool document_is_cut_off(void);

// Returns the form of the document, or NULL if it has none.
FPDF_FORMHANDLE document_form(void);

#endif
