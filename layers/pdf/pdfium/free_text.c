#include "free_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

// Maximum number of characters of a text to draw.
#define MAX_TEXT 10000
// Maximum bytes for one character, which is written in octal, for each line, and for everything else.
#define CHARACTER_TEXT 4
#define LINE_TEXT 64
#define HEAD_TEXT 512
#define DEFAULT_SIZE 12
// Space between the rectangle and the text, and distance between two lines, in font sizes.
#define MARGIN 2
#define LEADING 1.15
// Ascent of Helvetica in font sizes.
#define ASCENT 0.8

enum { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

struct style {
    double size;
    // The operators that set the colors of text and border, with their operands.
    char fill[64], stroke[64];
    int alignment;
};

struct line {
    const char *start;
    int length;
    double width;
};

// Reads a UTF-16 string, which the caller must free. Returns NULL if it is missing, empty or too long.
static unsigned short *string_of(FPDF_ANNOTATION annotation, const char *key)
{
    const unsigned long bytes = FPDFAnnot_GetStringValue(annotation, key, NULL, 0);
    if (bytes <= 2 || bytes > 2 * MAX_TEXT)
        return NULL;
    unsigned short *text = calloc(1, bytes + 2);
    if (text)
        FPDFAnnot_GetStringValue(annotation, key, text, bytes);
    return text;
}

// Returns the code of a character in WinAnsiEncoding, or 0 if there is none. PDFium uses that encoding for a font
// that is not in the resources.
static unsigned char code_of(unsigned short character)
{
    static const struct { unsigned short character; unsigned char code; } others[] = {
        { 0x20ac, 0x80 }, { 0x201a, 0x82 }, { 0x201e, 0x84 }, { 0x2026, 0x85 }, { 0x2018, 0x91 }, { 0x2019, 0x92 },
        { 0x201c, 0x93 }, { 0x201d, 0x94 }, { 0x2022, 0x95 }, { 0x2013, 0x96 }, { 0x2014, 0x97 }, { 0x2122, 0x99 },
    };
    if (character == '\r' || character == '\n')
        return '\n';
    if (character == '\t')
        return ' ';
    if ((character >= 0x20 && character < 0x7f) || (character >= 0xa0 && character <= 0xff))
        return (unsigned char)character;
    for (size_t index = 0; index < sizeof others / sizeof *others; index++)
        if (others[index].character == character)
            return others[index].code;
    return 0;
}

// Returns the text in WinAnsiEncoding, or NULL if that lacks any of its characters.
static char *encoded(const unsigned short *text)
{
    char *out = calloc(1, MAX_TEXT + 1);
    size_t length = 0;
    for (; out && *text; text++) {
        // Both characters together end one line.
        if (text[0] == '\r' && text[1] == '\n')
            continue;
        const unsigned char code = code_of(*text);
        if (!code || length == MAX_TEXT) {
            free(out);
            return NULL;
        }
        out[length++] = (char)code;
    }
    return out;
}

static bool is_fraction(double number)
{
    return number >= 0 && number <= 1;
}

static void set_color(struct style *style, double red, double green, double blue)
{
    snprintf(style->fill, sizeof style->fill, "%.3f %.3f %.3f rg", red, green, blue);
    snprintf(style->stroke, sizeof style->stroke, "%.3f %.3f %.3f RG", red, green, blue);
}

// Reads the size and the color of a default appearance such as "0 0 1 rg /Helv 12 Tf".
static void read_appearance(struct style *style, const unsigned short *appearance)
{
    char text[256] = "", *rest = NULL;
    for (size_t index = 0; appearance && appearance[index] && index < sizeof text - 1; index++)
        text[index] = appearance[index] < 0x7f ? (char)appearance[index] : ' ', text[index + 1] = '\0';
    double last[4] = { 0 };
    for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest)) {
        char *end;
        const double number = strtod(word, &end);
        if (end != word && *end == '\0') {
            memmove(last, last + 1, 3 * sizeof *last);
            last[3] = number;
        } else if (strcmp(word, "Tf") == 0 && last[3] > 0 && last[3] < 1000) {
            style->size = last[3];
        } else if (strcmp(word, "g") == 0 && is_fraction(last[3])) {
            set_color(style, last[3], last[3], last[3]);
        } else if (strcmp(word, "rg") == 0 && is_fraction(last[1]) && is_fraction(last[2]) && is_fraction(last[3])) {
            set_color(style, last[1], last[2], last[3]);
        }
    }
}

// Ends the line at `text` before the word that would exceed `width`, or at the end of the paragraph.
static struct line first_line(const char *text, FPDF_FONT font, double size, double width)
{
    struct line line = { text, 0, 0 };
    double reached = 0;
    for (int index = 0;; index++) {
        const bool ends = text[index] == '\0' || text[index] == '\n';
        if ((ends || text[index] == ' ') && index > 0)
            line.length = index, line.width = reached;
        if (ends)
            return line;
        float advance = 0;
        FPDFFont_GetGlyphWidth(font, (unsigned char)text[index], (float)size, &advance);
        reached += advance;
        if (reached > width && index > 0) {
            // A word that is wider than the whole line is split.
            if (line.length == 0)
                line.length = index, line.width = reached - advance;
            return line;
        }
    }
}

static char *put_line(char *out, const struct line *line, double x, double y)
{
    out += sprintf(out, "1 0 0 1 %.2f %.2f Tm (", x, y);
    for (int index = 0; index < line->length; index++)
        out += sprintf(out, "\\%03o", (unsigned char)line->start[index]);
    return out + sprintf(out, ") Tj ");
}

static char *put_text(char *out, const char *text, const struct style *style, const FS_RECTF *box, FPDF_FONT font)
{
    const double left = box->left + MARGIN, width = box->right - MARGIN - left;
    double y = box->top - MARGIN - ASCENT * style->size;
    while (*text && y > box->bottom - style->size) {
        const struct line line = first_line(text, font, style->size, width);
        const double free = style->alignment == ALIGN_LEFT ? 0 : width - line.width;
        out = put_line(out, &line, left + (style->alignment == ALIGN_CENTER ? free / 2 : free), y);
        text += line.length;
        if (*text == ' ' || *text == '\n')
            text++;
        y -= LEADING * style->size;
    }
    return out;
}

char *free_text_appearance(FPDF_ANNOTATION annotation, const FS_RECTF *box, float border)
{
    struct style style = { DEFAULT_SIZE, "0 g", "0 G", ALIGN_LEFT };
    unsigned short *appearance = string_of(annotation, "DA"), *contents = string_of(annotation, "Contents");
    char *text = contents ? encoded(contents) : NULL;
    read_appearance(&style, appearance);
    float alignment = ALIGN_LEFT;
    if (FPDFAnnot_GetNumberValue(annotation, "Q", &alignment) && (alignment == ALIGN_CENTER || alignment == ALIGN_RIGHT))
        style.alignment = (int)alignment;
    const FPDF_FONT font = text ? FPDFText_LoadStandardFont(document_handle(), "Helvetica") : NULL;
    // Each line has at least one character, or ends a paragraph.
    char *stream = font ? malloc(HEAD_TEXT + strlen(text) * (CHARACTER_TEXT + LINE_TEXT)) : NULL;
    if (stream) {
        char *out = stream;
        if (border > 0)
            out += sprintf(out, "%s %.3f w %.3f %.3f %.3f %.3f re S ", style.stroke, border, box->left + border / 2,
                           box->bottom + border / 2, box->right - box->left - border, box->top - box->bottom - border);
        out += sprintf(out, "BT %s /Helv %.2f Tf ", style.fill, style.size);
        out = put_text(out, text, &style, box, font);
        sprintf(out, "ET");
    }
    if (font)
        FPDFFont_Close(font);
    free(appearance), free(contents), free(text);
    return stream;
}
