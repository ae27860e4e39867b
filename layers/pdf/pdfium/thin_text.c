#include "thin_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// Maximum depth of nested forms.
#define MAX_DEPTH 20
// Width in pixels below which a line is left out, because it would only blur the letters.
#define INVISIBLE 0.3

struct softened {
    FPDF_PAGEOBJECT object;
    unsigned alpha;
};

static struct softened *list;
static size_t count, room;

static double scale_of(FS_MATRIX matrix)
{
    return sqrt(fabs((double)matrix.a * matrix.d - (double)matrix.b * matrix.c));
}

static void soften(FPDF_PAGEOBJECT object, double scale)
{
    const int mode = FPDFTextObj_GetTextRenderMode(object);
    float width;
    FS_MATRIX matrix;
    if (mode != FPDF_TEXTRENDERMODE_FILL_STROKE || !FPDFPageObj_GetStrokeWidth(object, &width) ||
        !FPDFPageObj_GetMatrix(object, &matrix))
        return;
    // The matrix contains the scale of the line, of the letters, or of both. Only the former is small as a rule.
    const double pixels = fmax(0, width * scale * fmin(1, scale_of(matrix)));
    unsigned red, green, blue, alpha, fill[4];
    if (!(pixels < 1) || !FPDFPageObj_GetStrokeColor(object, &red, &green, &blue, &alpha) ||
        !FPDFPageObj_GetFillColor(object, &fill[0], &fill[1], &fill[2], &fill[3]))
        return;
    // A letter without its line may be as bright as the paper.
    const bool is_optional = fill[0] == red && fill[1] == green && fill[2] == blue;
    if (count == room) {
        struct softened *more = realloc(list, (room ? 2 * room : 64) * sizeof *list);
        if (!more)
            return;
        list = more, room = room ? 2 * room : 64;
    }
    // PDFium replaces the ink of the letter by that of the line where both are, which is half of the line.
    const unsigned share = (unsigned)lround(alpha * (1 + pixels) / 2);
    const bool changed = is_optional && pixels < INVISIBLE
        ? FPDFTextObj_SetTextRenderMode(object, FPDF_TEXTRENDERMODE_FILL)
        : FPDFPageObj_SetStrokeColor(object, red, green, blue, share);
    if (changed)
        list[count++] = (struct softened) { object, alpha };
}

static void visit(FPDF_PAGEOBJECT object, double scale, int depth)
{
    const int type = FPDFPageObj_GetType(object);
    if (type == FPDF_PAGEOBJ_TEXT)
        soften(object, scale);
    FS_MATRIX matrix;
    if (type != FPDF_PAGEOBJ_FORM || depth > MAX_DEPTH || !FPDFPageObj_GetMatrix(object, &matrix))
        return;
    const double inner = scale * scale_of(matrix);
    for (int index = FPDFFormObj_CountObjects(object); index-- > 0;)
        visit(FPDFFormObj_GetObject(object, (unsigned long)index), inner, depth + 1);
}

void soften_thin_text(FPDF_PAGE page, double scale)
{
    for (int index = FPDFPage_CountObjects(page); index-- > 0;)
        visit(FPDFPage_GetObject(page, index), scale, 0);
}

void restore_thin_text(void)
{
    while (count > 0) {
        const struct softened *last = &list[--count];
        FPDFTextObj_SetTextRenderMode(last->object, FPDF_TEXTRENDERMODE_FILL_STROKE);
        unsigned red, green, blue, alpha;
        if (FPDFPageObj_GetStrokeColor(last->object, &red, &green, &blue, &alpha))
            FPDFPageObj_SetStrokeColor(last->object, red, green, blue, last->alpha);
    }
}
