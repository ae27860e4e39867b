#include "annotations.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "free_text.h"

// Maximum number of points of a line of ink that is made to fit.
#define MAX_CORNERS 10000
// Maximum coordinates and border widths. Annotations with larger ones are left out as damaged, because no page is
// that large.
#define MAX_COORDINATE 1e6f
// Maximum bytes of colors, widths and rectangles.
#define HEAD_TEXT 256
// Maximum bytes of an appearance that is changed.
#define MAX_APPEARANCE 200000
// Operators around the text of a field, and the color, arrow and width of the button in an appearance of PDFium; see
// fpdfsdk/cpdfsdk_appstream.cpp.
#define TEXT_START "/Tx BMC\nq\n"
#define TEXT_END "Q\nEMC\n"
#define BUTTON_COLOR "q\n0.8627"
#define BUTTON_ARROW "q\n 0 g\n"
#define BUTTON_WIDTH 13

static int put_color(char *out, FPDF_ANNOTATION annotation, int type, const char *operator)
{
    unsigned red = 0, green = 0, blue = 0, alpha = 255;
    FPDFAnnot_GetColor(annotation, type, &red, &green, &blue, &alpha);
    // An appearance created this way has no graphics state for opacity, so colors are blended with white.
    const double ink = alpha / 255.0, paper = 1 - ink;
    return sprintf(out, "%.3f %.3f %.3f %s ", paper + ink * red / 255, paper + ink * green / 255,
                   paper + ink * blue / 255, operator);
}

static void extend(FS_RECTF *box, const FS_POINTF *corners, unsigned long count)
{
    for (unsigned long index = 0; index < count; index++) {
        const float x = corners[index].x, y = corners[index].y;
        box->left = x < box->left ? x : box->left, box->right = x > box->right ? x : box->right;
        box->bottom = y < box->bottom ? y : box->bottom, box->top = y > box->top ? y : box->top;
    }
}

// PDFium clips an appearance to the annotation's rectangle, which may be too small or inverted.
static void fit_rectangle(FPDF_ANNOTATION annotation, const FS_POINTF *corners, unsigned long count, float margin)
{
    FS_RECTF box = { corners->x, corners->y, corners->x, corners->y };
    extend(&box, corners, count);
    box.left -= margin, box.bottom -= margin, box.right += margin, box.top += margin;
    FPDFAnnot_SetRect(annotation, &box);
}

// Returns false for a number that is too large or not finite.
static bool is_near(float number)
{
    return number >= -MAX_COORDINATE && number <= MAX_COORDINATE;
}

static bool are_near(const FS_POINTF *corners, unsigned long count)
{
    for (unsigned long index = 0; index < count; index++)
        if (!is_near(corners[index].x) || !is_near(corners[index].y))
            return false;
    return true;
}

static void set_appearance(FPDF_ANNOTATION annotation, const char *text)
{
    const size_t size = strlen(text) + 1;
    unsigned short *wide = malloc(size * sizeof *wide);
    for (size_t index = 0; wide && index < size; index++)
        wide[index] = (unsigned char)text[index];
    if (wide)
        FPDFAnnot_SetAP(annotation, 0, wide);
    free(wide);
}

// Returns the width of the border: one point by default, and 0 if it is unknown.
static float border_of(FPDF_ANNOTATION annotation)
{
    float across, up, width = 1;
    // BS overrides the border, but PDFium does not provide its content.
    if (FPDFAnnot_HasKey(annotation, "BS"))
        return 0;
    FPDFAnnot_GetBorder(annotation, &across, &up, &width);
    return width > 0 && is_near(width) ? width : 0;
}

static bool read_rectangle(FPDF_ANNOTATION annotation, FS_RECTF *box)
{
    return FPDFAnnot_GetRect(annotation, box) && is_near(box->left) && is_near(box->right) && is_near(box->bottom)
           && is_near(box->top);
}

static void frame_link(FPDF_ANNOTATION annotation)
{
    FS_RECTF box;
    const float width = border_of(annotation);
    if (width == 0 || !read_rectangle(annotation, &box))
        return;
    const FS_POINTF corners[] = { { box.left, box.bottom }, { box.right, box.top } };
    fit_rectangle(annotation, corners, 2, width);
    char text[HEAD_TEXT];
    char *out = text + put_color(text, annotation, FPDFANNOT_COLORTYPE_Color, "RG");
    sprintf(out, "%.3f w %.3f %.3f %.3f %.3f re S", width, box.left, box.bottom, box.right - box.left, box.top - box.bottom);
    set_appearance(annotation, text);
}

// PDFium adds half of the line's width on every side.
static void fit_ink(FPDF_ANNOTATION annotation)
{
    FS_RECTF box;
    if (!FPDFAnnot_GetRect(annotation, &box))
        return;
    const FS_RECTF given = box;
    const unsigned long paths = FPDFAnnot_GetInkListCount(annotation);
    for (unsigned long path = 0; path < paths; path++) {
        const unsigned long count = FPDFAnnot_GetInkListPath(annotation, path, NULL, 0);
        FS_POINTF *corners = count && count <= MAX_CORNERS ? malloc(count * sizeof *corners) : NULL;
        if (corners && FPDFAnnot_GetInkListPath(annotation, path, corners, count) == count && are_near(corners, count))
            extend(&box, corners, count);
        free(corners);
    }
    if (box.left < given.left || box.right > given.right || box.bottom < given.bottom || box.top > given.top)
        FPDFAnnot_SetRect(annotation, &box);
}

// Draws a text on its background, if it has one.
static void write_text(FPDF_ANNOTATION annotation)
{
    FS_RECTF box;
    if (!read_rectangle(annotation, &box))
        return;
    char *text = free_text_appearance(annotation, &box, border_of(annotation));
    char *whole = text ? malloc(strlen(text) + HEAD_TEXT) : NULL;
    if (whole) {
        char *out = whole;
        if (FPDFAnnot_HasKey(annotation, "C")) {
            out += put_color(out, annotation, FPDFANNOT_COLORTYPE_Color, "rg");
            out += sprintf(out, "%.3f %.3f %.3f %.3f re f ", box.left, box.bottom, box.right - box.left, box.top - box.bottom);
        }
        strcpy(out, text);
        set_appearance(annotation, whole);
    }
    free(whole), free(text);
}

// Reads an appearance, which the caller must free. Returns NULL if it is missing, too long, or contains other bytes than ASCII.
static char *appearance_of(FPDF_ANNOTATION annotation)
{
    const unsigned long bytes = FPDFAnnot_GetAP(annotation, 0, NULL, 0);
    if (bytes <= 2 || bytes > MAX_APPEARANCE)
        return NULL;
    unsigned short *wide = calloc(1, bytes + 2);
    char *text = malloc(bytes / 2 + 1);
    if (wide)
        FPDFAnnot_GetAP(annotation, 0, wide, bytes);
    bool ascii = wide && text;
    for (size_t index = 0; ascii && index <= bytes / 2; index++)
        ascii = wide[index] < 0x7f, text[index] = (char)wide[index];
    free(wide);
    if (!ascii)
        free(text);
    return ascii ? text : NULL;
}

// Returns the last place of a text in another one, or NULL.
static char *find_last(char *text, const char *part)
{
    char *last = NULL;
    for (char *at = text; (at = strstr(at, part)); at++)
        last = at;
    return last;
}

// Removes the button from the appearance that PDFium creates for a combo box. It would cover the end of the value, and is not for
// print. PDFium draws it after the text, which it clips to the rest of the box. An empty box has no text.
static void remove_button(FPDF_ANNOTATION annotation)
{
    FS_RECTF box;
    char *text = appearance_of(annotation);
    char *clip = text ? strstr(text, TEXT_START) : NULL;
    char *end = clip ? strstr(clip, TEXT_END) : NULL;
    char *button = text ? find_last(text, BUTTON_COLOR) : NULL;
    if (button && (!end || button > end) && strstr(button, BUTTON_ARROW) && read_rectangle(annotation, &box)) {
        *button = '\0';
        float x, y, width, height;
        int length = 0;
        char *rest = clip ? clip + strlen(TEXT_START) : text;
        const bool clipped = clip && sscanf(rest, " %f %f %f %f re W n%n", &x, &y, &width, &height, &length) == 4 && length;
        char *whole = malloc(strlen(text) + HEAD_TEXT);
        if (whole) {
            // A new appearance is in the coordinates of the page.
            char *out = whole + sprintf(whole, "1 0 0 1 %.3f %.3f cm %.*s", box.left, box.bottom, (int)(rest - text), text);
            if (clipped)
                out += sprintf(out, " %.3f %.3f %.3f %.3f re W n", x, y, width + BUTTON_WIDTH, height);
            strcpy(out, rest + length);
            set_appearance(annotation, whole);
        }
        free(whole);
    }
    free(text);
}

static void complete(FPDF_ANNOTATION annotation)
{
    const int kind = FPDFAnnot_GetSubtype(annotation);
    if (kind == FPDF_ANNOT_LINK)
        frame_link(annotation);
    if (kind == FPDF_ANNOT_FREETEXT)
        write_text(annotation);
    if (kind == FPDF_ANNOT_INK)
        fit_ink(annotation);
}

void complete_annotations(FPDF_PAGE page)
{
    for (int index = FPDFPage_GetAnnotCount(page); index-- > 0;) {
        FPDF_ANNOTATION annotation = FPDFPage_GetAnnot(page, index);
        if (annotation && FPDFAnnot_GetSubtype(annotation) == FPDF_ANNOT_WIDGET)
            remove_button(annotation);
        else if (annotation && !FPDFAnnot_HasKey(annotation, "AP"))
            complete(annotation);
        if (annotation)
            FPDFPage_CloseAnnot(annotation);
    }
}

bool has_fields(FPDF_PAGE page)
{
    bool found = false;
    for (int index = FPDFPage_GetAnnotCount(page); index-- > 0 && !found;) {
        FPDF_ANNOTATION annotation = FPDFPage_GetAnnot(page, index);
        found = annotation && FPDFAnnot_GetSubtype(annotation) == FPDF_ANNOT_WIDGET;
        if (annotation)
            FPDFPage_CloseAnnot(annotation);
    }
    return found;
}
