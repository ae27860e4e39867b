#include "requests.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "layout.h"
#include "memory.h"
#include "message.h"
#include "replacements.h"
#include "right_to_left.h"

#define REPLACEMENT 0xfffd
// Height of a turned character above and below its line, relative to the font size.
#define ASCENT 0.9
#define DESCENT 0.25

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

static bool is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// Returns the character to write for a code of PDFium, or 0 for none.
static unsigned character_of(FPDF_TEXTPAGE text, int index, unsigned code)
{
    // 2 and 0xfffe mean a hyphen at the end of a line. The word is joined, as in pdftotext.
    if (code == 0xfffe || (code == 2 && FPDFText_IsHyphen(text, index) == 1))
        return 0;
    const bool unknown = FPDFText_HasUnicodeMapError(text, index) == 1;
    if (code == '\r' && !unknown)
        return 0;
    if ((code == '\n' || code == '\t') && !unknown)
        return code;
    // Without a Unicode value, PDFium returns 0 or the glyph number in the font.
    if (is_control(code) || (unknown && code > 0xff) || (code >= 0xd800 && code < 0xe000))
        return REPLACEMENT;
    return code;
}

static bool is_high(unsigned code)
{
    return code >= 0xd800 && code < 0xdc00;
}

static bool is_low(unsigned code)
{
    return code >= 0xdc00 && code < 0xe000;
}

static unsigned joined(unsigned high, unsigned low)
{
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

// Returns the character at `*index`, or 0 for none, and moves `*index` to its last code.
static unsigned read_character(FPDF_TEXTPAGE text, int *index, int end)
{
    const unsigned code = FPDFText_GetUnicode(text, *index);
    // PDFium may return half a character, because it uses UTF-16.
    const unsigned low = is_high(code) && *index + 1 < end ? FPDFText_GetUnicode(text, *index + 1) : 0;
    if (!is_low(low))
        return character_of(text, *index, code);
    ++*index;
    return joined(code, low);
}

static unsigned utf16_at(const unsigned char *bytes, bool little)
{
    return little ? bytes[1] << 8 | bytes[0] : bytes[0] << 8 | bytes[1];
}

static void write_utf16(FILE *file, const unsigned char *bytes, size_t length, bool little)
{
    for (size_t at = 0; at + 1 < length; at += 2) {
        const unsigned code = utf16_at(bytes + at, little), low = at + 3 < length ? utf16_at(bytes + at + 2, little) : 0;
        if (is_high(code) && is_low(low)) {
            put_character(file, joined(code, low));
            at += 2;
        } else {
            put_character(file, is_control(code) ? ' ' : is_high(code) || is_low(code) ? REPLACEMENT : code);
        }
    }
}

// Returns the number of bytes of a character in UTF-8 from its first byte, or 0 if no character starts with that byte.
static size_t utf8_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first >= 0xf5)
        return 0;
    if (first < 0xe0)
        return 2;
    return first < 0xf0 ? 3 : 4;
}

// Returns the character that starts at `*at`, and moves past it. Bytes that are not UTF-8 are replaced one at a time.
static unsigned next_utf8(const unsigned char *bytes, size_t length, size_t *at)
{
    static const unsigned least[] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char first = bytes[(*at)++];
    const size_t count = utf8_length(first);
    if (count == 0 || count - 1 > length - *at)
        return REPLACEMENT;
    const size_t more = count - 1;
    unsigned code = more == 0 ? first : first & (0x3f >> more);
    for (size_t index = 0; index < more; index++) {
        if ((bytes[*at + index] & 0xc0) != 0x80)
            return REPLACEMENT;
        code = code << 6 | (bytes[*at + index] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || is_high(code) || is_low(code))
        return REPLACEMENT;
    *at += more;
    return code;
}

static void write_utf8(FILE *file, const unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        const unsigned code = next_utf8(bytes, length, &at);
        put_character(file, is_control(code) ? ' ' : code);
    }
}

// Writes a text string (ISO 32000-2, 7.9.2): UTF-16 or UTF-8 with a byte order mark, or PDFDocEncoding.
static void write_replacement(FILE *file, const unsigned char *bytes, size_t length)
{
    // Where PDFDocEncoding differs from Latin-1.
    enum { FIRST_ACCENT = 0x18, FIRST = 0x80 };
    static const unsigned short accents[] = { 0x02d8, 0x02c7, 0x02c6, 0x02d9, 0x02dd, 0x02db, 0x02da, 0x02dc };
    static const unsigned short others[] = {
        0x2022, 0x2020, 0x2021, 0x2026, 0x2014, 0x2013, 0x0192, 0x2044, 0x2039, 0x203a, 0x2212,
        0x2030, 0x201e, 0x201c, 0x201d, 0x2018, 0x2019, 0x201a, 0x2122, 0xfb01, 0xfb02, 0x0141,
        0x0152, 0x0160, 0x0178, 0x017d, 0x0131, 0x0142, 0x0153, 0x0161, 0x017e, REPLACEMENT, 0x20ac,
    };
    if (length >= 2 && (utf16_at(bytes, false) == 0xfeff || utf16_at(bytes, true) == 0xfeff)) {
        write_utf16(file, bytes + 2, length - 2, bytes[0] == 0xff);
    } else if (length >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        write_utf8(file, bytes + 3, length - 3);
    } else {
        for (size_t at = 0; at < length; at++) {
            const unsigned code = bytes[at];
            const bool differs = code >= FIRST && code < FIRST + sizeof others / sizeof *others;
            const bool is_accent = code >= FIRST_ACCENT && code < FIRST_ACCENT + sizeof accents / sizeof *accents;
            if (is_accent)
                put_character(file, accents[code - FIRST_ACCENT]);
            else
                put_character(file, differs ? others[code - FIRST] : is_control(code) ? ' ' : code);
        }
    }
}

// Returns the first letter of a replacement, or else its first digit or character, which decides about its place in a line.
static unsigned sample_of(const struct replacement *replacement)
{
    const unsigned char *bytes = replacement->text;
    const size_t length = replacement->length;
    const bool big = length >= 2 && utf16_at(bytes, false) == 0xfeff, little = length >= 2 && utf16_at(bytes, true) == 0xfeff;
    unsigned sample = 0;
    for (size_t at = big || little ? 2 : 0; at < length; at += big || little ? 2 : 1) {
        if ((big || little) && at + 1 >= length)
            break;
        const unsigned code = big || little ? utf16_at(bytes + at, little) : bytes[at];
        if (is_strong(code))
            return code;
        sample = sample ? sample : code;
    }
    return sample ? sample : ' ';
}

// Writes the characters of a line.
static void write_line(FILE *file, struct placed *line, size_t count)
{
    if (needs_order(line, count)) {
        size_t kept = 0;
        // Spaces that PDFium has added are where they would be in its own order.
        for (size_t index = 0; index < count; index++)
            if (!line[index].generated)
                line[kept++] = line[index];
        count = order_line(line, kept);
    }
    for (size_t index = 0; index < count; index++) {
        const struct replacement *replacement = line[index].replacement;
        if (replacement)
            write_replacement(file, replacement->text, replacement->length);
        else
            put_character(file, line[index].code);
    }
}

// Longest line in which text that was drawn twice is found.
#define MAX_COMPARED 1000

// Whether a line already has a character in the same place, as where programs draw a text and a mask of it.
static bool is_drawn_again(const struct placed *line, size_t count, unsigned code, const FS_RECTF *box)
{
    for (size_t index = count < MAX_COMPARED ? count : 0; index-- > 0;)
        if (line[index].code == code && !line[index].generated && line[index].left == box->left && line[index].right == box->right
            && line[index].top == box->top && box->right > box->left)
            return true;
    return false;
}

// Whether an object belongs to a hidden layer; see `graph/layers.ts`.
static bool is_hidden(FPDF_PAGEOBJECT object)
{
    const int marks = object ? FPDFPageObj_CountMarks(object) : 0;
    for (int index = 0, hidden; index < marks; index++)
        if (FPDFPageObjMark_GetParamIntValue(FPDFPageObj_GetMark(object, index), "Hidden", &hidden))
            return true;
    return false;
}

// Removes hidden objects and forms from a page. Marks of a form do not apply to the objects in it.
static void remove_hidden_objects(FPDF_PAGE page)
{
    for (int index = FPDFPage_CountObjects(page); index-- > 0;) {
        const FPDF_PAGEOBJECT object = FPDFPage_GetObject(page, index);
        if (is_hidden(object) && FPDFPage_RemoveObject(page, object))
            FPDFPageObj_Destroy(object);
    }
}

// Returns the quarter turns of a character, counterclockwise. If it is turned, sets its box as if the page were turned back.
static int turn_box(FPDF_TEXTPAGE text, int index, FS_RECTF *box)
{
    FS_MATRIX matrix;
    double left, right, bottom, top, x, y;
    if (!FPDFText_GetMatrix(text, index, &matrix))
        return 0;
    const double size = FPDFText_GetFontSize(text, index);
    const bool vertical = fabsf(matrix.b) > fabsf(matrix.a), turned = (vertical ? matrix.b : matrix.a) * size < 0;
    const int turns = vertical ? (turned ? 3 : 1) : (turned ? 2 : 0);
    const bool found = turns && FPDFText_GetCharBox(text, index, &left, &right, &bottom, &top);
    if (!found || !FPDFText_GetCharOrigin(text, index, &x, &y))
        return 0;
    const double starts[] = { 0, y, -x, -y }, ends[] = { 0, top, -left, -bottom }, baselines[] = { 0, -x, -y, x };
    // PDFium's own loose box is empty.
    const double height = fabs(size) * fabsf(vertical ? matrix.c : matrix.d);
    const double start = starts[turns], end = ends[turns], baseline = baselines[turns];
    box->left = (float)start, box->right = (float)(end > start ? end : start);
    box->bottom = (float)(baseline - DESCENT * height), box->top = (float)(baseline + ASCENT * height);
    return turns;
}

// Whether a character starts outside a page. An empty box means that the page has none.
static bool is_off_page(FPDF_TEXTPAGE text, int index, const FS_RECTF *page)
{
    double x, y;
    return page->right > page->left && FPDFText_GetCharOrigin(text, index, &x, &y)
           && (x < page->left || x > page->right || y < page->bottom || y > page->top);
}

// Writes the text of a page. With a box of the page, writes its layout.
static void write_text(FILE *file, FPDF_TEXTPAGE text, const struct replacements *replacements, const FS_RECTF *layout)
{
    const int end = FPDFText_CountChars(text);
    // Spaces between all characters may double their number.
    struct placed *line = end > 0 ? malloc(2 * (size_t)end * sizeof *line) : NULL;
    if (end > 0 && !line)
        fail_out_of_memory();
    size_t count = 0;
    int turns = 0;
    struct placed *last = NULL;
    FPDF_PAGEOBJECT object = NULL;
    bool hidden = false;
    // Position of the character of the line that starts last. The next one usually starts after it.
    float reached = -FLT_MAX;
    for (int index = 0; index < end; index++) {
        const bool generated = FPDFText_IsGenerated(text, index) == 1;
        FS_RECTF box = { 0, 0, 0, 0 };
        struct replacement *here = NULL;
        if (!generated) {
            const FPDF_PAGEOBJECT own = FPDFText_GetTextObject(text, index);
            if (own != object)
                hidden = is_hidden(object = own);
            if (hidden)
                continue;
            // The rest of a field's value that does not fit, for example.
            if (layout && is_off_page(text, index, layout))
                continue;
            FPDFText_GetLooseCharBox(text, index, &box);
            if (layout)
                turns = turn_box(text, index, &box);
            if (replacements->count)
                here = replacement_of(replacements, object);
        }
        if (here && here->written) {
            // Another glyph of the same replacement. Spaces between them are not part of it.
            if (last && last->replacement == here) {
                count = (size_t)(last - line) + 1;
                last->left = box.left < last->left ? box.left : last->left;
                last->right = box.right > last->right ? box.right : last->right;
            }
            continue;
        }
        unsigned character = here ? sample_of(here) : read_character(text, &index, end);
        if (!character && layout && FPDFText_IsHyphen(text, index) == 1)
            character = '-';
        // A space is already there, if the text between was not written again.
        const bool repeats = generated ? character == ' ' && count && line[count - 1].code == ' '
                                       : !here && box.left <= reached && is_drawn_again(line, count, character, &box);
        if (!character || repeats)
            continue;
        line[count] = (struct placed){ character, box.left, box.right, box.top, box.bottom, generated, here, turns, 0 };
        if (here)
            here->written = true;
        if (!generated) {
            last = line + count;
            reached = fmaxf(reached, box.left);
        }
        count++;
        if (character != '\n' || here || layout)
            continue;
        write_line(file, line, count - 1);
        put_character(file, '\n');
        count = 0;
        last = NULL;
        reached = -FLT_MAX;
    }
    if (line && layout)
        write_layout(file, line, count, write_line);
    else if (line)
        write_line(file, line, count);
    free(line);
}

// Returns false if PDFium cannot read the page.
static bool write_page(FILE *file, int number, bool annotations, bool layout)
{
    const FPDF_PAGE page = annotations ? load_flat_page(number) : load_page(number);
    if (!page || (document_is_cut_off() && FPDFPage_CountObjects(page) == 0))
        return false;
    remove_hidden_objects(page);
    struct replacements replacements = take_replacements(page);
    const FPDF_TEXTPAGE text = FPDFText_LoadPage(page);
    if (text) {
        FS_RECTF box = { 0, 0, 0, 0 };
        FPDF_GetPageBoundingBox(page, &box);
        write_text(file, text, &replacements, layout ? &box : NULL);
        FPDFText_ClosePage(text);
    }
    put_back_replacements(&replacements, document_handle());
    fputs("\n\f", file);
    return text != NULL;
}

// Writes the text of pages as UTF-8. As in pdftotext, each page ends with a form feed. With "mark", it begins with a byte
// order mark.
// Arguments: "pages" lists page numbers, and "target" is the name of the file. Without "annotations", annotations and
// form fields are left out. With "layout", columns stay below each other. Answers with the first page that PDFium cannot
// read, or with 0. The file is complete only if that is 0.
void text_request(yyjson_val *arguments)
{
    const bool annotations = flag_member(arguments, "annotations"), layout = flag_member(arguments, "layout");
    const char *target = text_member(arguments, "target");
    FILE *file = target ? fopen(target, "wb") : NULL;
    if (!file) {
        send_code("INTERNAL");
        return;
    }
    if (flag_member(arguments, "mark"))
        fputs("\xef\xbb\xbf", file);
    int failed = 0;
    size_t index, count;
    yyjson_val *page;
    yyjson_arr_foreach(yyjson_obj_get(arguments, "pages"), index, count, page) {
        const int number = yyjson_get_int(page);
        if (!write_page(file, number, annotations, layout)) {
            failed = number;
            break;
        }
        send_heartbeat((int)index + 1);
    }
    const bool incomplete = ferror(file);
    if (fclose(file) || incomplete) {
        send_code(disk_is_full(target) ? "ENOSPC" : "INTERNAL");
        return;
    }
    if (memory_exhausted())
        fail_out_of_memory();
    FILE *answer = begin_answer("result");
    fprintf(answer, "{\"failed\":%d}", failed);
    finish_answer(answer);
}
