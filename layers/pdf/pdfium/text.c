#include "requests.h"

#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "message.h"

#define REPLACEMENT 0xfffd

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

static int is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// Returns the character to write for a code of PDFium, or 0 for none.
static unsigned character_of(FPDF_TEXTPAGE text, int index, unsigned code)
{
    // 2 and 0xfffe stand for a hyphen at the end of a line. The word is joined, as by pdftotext.
    if (code == 0xfffe || (code == 2 && FPDFText_IsHyphen(text, index) == 1))
        return 0;
    const int unknown = FPDFText_HasUnicodeMapError(text, index) == 1;
    if (code == '\r' && !unknown)
        return 0;
    if ((code == '\n' || code == '\t') && !unknown)
        return code;
    // Without a Unicode value, PDFium returns 0 or the number of the letter in its font.
    if (is_control(code) || (unknown && code > 0xff) || (code >= 0xd800 && code < 0xe000))
        return REPLACEMENT;
    return code;
}

static void write_text(FILE *file, FPDF_TEXTPAGE text)
{
    const int count = FPDFText_CountChars(text);
    for (int index = 0; index < count; index++) {
        const unsigned code = FPDFText_GetUnicode(text, index);
        // Half a character: PDFium may return UTF-16.
        if (code >= 0xd800 && code < 0xdc00 && index + 1 < count) {
            const unsigned low = FPDFText_GetUnicode(text, index + 1);
            if (low >= 0xdc00 && low < 0xe000) {
                put_character(file, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
                index++;
                continue;
            }
        }
        const unsigned character = character_of(text, index, code);
        if (character)
            put_character(file, character);
    }
}

// Writes the text of pages as UTF-8 with a byte order mark, each page ended by a form feed, as pdftotext does. Arguments: "pages"
// lists page numbers; "target" is the name of the file; without "annotations", those and form fields are left out.
void text_request(yyjson_val *arguments)
{
    const bool annotations = flag_member(arguments, "annotations");
    const char *target = text_member(arguments, "target");
    FILE *file = target ? fopen(target, "wb") : NULL;
    if (file)
        fputs("\xef\xbb\xbf", file);
    size_t index, count;
    yyjson_val *page;
    yyjson_arr_foreach(yyjson_obj_get(arguments, "pages"), index, count, page) {
        const int number = yyjson_get_int(page);
        if (!file || number < 1)
            break;
        const FPDF_PAGE loaded = annotations ? load_flat_page(number) : load_page(number);
        const FPDF_TEXTPAGE text = loaded ? FPDFText_LoadPage(loaded) : NULL;
        if (text) {
            write_text(file, text);
            FPDFText_ClosePage(text);
        }
        fputs("\n\f", file);
        send_heartbeat((int)index + 1);
    }
    const bool failed = !file || ferror(file);
    if ((file && fclose(file)) || failed) {
        send_error("INTERNAL", "%s", "");
        return;
    }
    FILE *answer = begin_answer("result");
    fputs("{}", answer);
    finish_answer(answer);
}
