// The open document and its loaded page. Documents stay open between requests for the same file.
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <stdbool.h>
#include <yyjson.h>

#include "pdfium.h"
#include "survey.h"

struct size {
    double width, height;
};

// The code of a document that only the owners of certificates can open.
extern const char *const CERTIFICATE;

// Opens the file that the arguments name, unless it is already open. Returns NULL, or the code of the error.
const char *open_document(yyjson_val *arguments);

FPDF_DOCUMENT document_handle(void);

int document_page_count(void);

struct survey document_survey(void);

// Returns the size of a page, from 1, in points as displayed, or 0 x 0 if it is unknown to PDFium or implausible.
struct size page_size(int page);

// Loads a page, which stays loaded until another one is loaded. Returns NULL if PDFium cannot load it.
FPDF_PAGE load_page(int page);

// Reopens the document without its tables if these may be wrong and the page then has contents. Returns whether it
// did.
bool recover_contents(int page);

// Loads a page and merges its annotations and form fields, as displayed, into its contents. The open document keeps
// this change, so it must not be written afterwards or drawn without annotations. Returns NULL if PDFium cannot load
// it.
FPDF_PAGE load_flat_page(int page);

// Whether the end of the file is missing. If so, an empty page may have lost its contents.
bool document_is_cut_off(void);

// Returns the form of the document, or NULL if it has none.
FPDF_FORMHANDLE document_form(void);

#endif
