#include "requests.h"

#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "draw.h"
#include "message.h"

static void put_character(FILE *file, unsigned code)
{
    if (code < 0x80)
        fputc(code, file);
    else if (code < 0x800)
        fprintf(file, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
    else if (code < 0x10000)
        fprintf(file, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
    else
        fprintf(file, "%c%c%c%c", 0xf0 | code >> 18, 0x80 | (code >> 12 & 0x3f), 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
}

static void write_text(FILE *file, FPDF_TEXTPAGE text)
{
    const int count = FPDFText_CountChars(text);
    for (int index = 0; index < count; index++) {
        unsigned code = FPDFText_GetUnicode(text, index);
        // Half a character: PDFium may return UTF-16.
        if (code >= 0xd800 && code < 0xdc00 && index + 1 < count) {
            const unsigned low = FPDFText_GetUnicode(text, index + 1);
            if (low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                index++;
            }
        }
        // 2 and 0xfffe stand for a hyphen at the end of a line. The word is joined, as by pdftotext.
        if (code != 2 && code != 0xfffe && code != '\r' && code != 0)
            put_character(file, code);
    }
}

// Writes the text of pages as UTF-8 with a byte order mark, each page ended by a form feed, as pdftotext does. "pages" lists page numbers.
void text_request(const char *request)
{
    char *pages = text_member(request, "pages"), *target = text_member(request, "target");
    FILE *file = fopen(target, "wb");
    char *at = pages;
    if (file)
        fputs("\xef\xbb\xbf", file);
    for (long page; file && (page = strtol(at, &at, 10)) > 0;) {
        const FPDF_PAGE loaded = load_page(page);
        const FPDF_TEXTPAGE text = loaded ? FPDFText_LoadPage(loaded) : NULL;
        if (text) {
            write_text(file, text);
            FPDFText_ClosePage(text);
        }
        fputs("\n\f", file);
        report_progress();
    }
    if (file && !fclose(file))
        send_line("{\"result\":{}}\n");
    else
        send_error("INTERNAL", "The text could not be written.");
    free(pages), free(target);
}
