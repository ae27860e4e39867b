#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "annotations.h"
#include "document.h"
#include "images.h"
#include "memory.h"
#include "message.h"
#include "thin_text.h"

// Sends a heartbeat at most once a second. The first call after a pause always sends one.
static void report_progress(void)
{
    static time_t last;
    const time_t now = time(NULL);
    if (now == last)
        return;
    last = now;
    repeat_heartbeat();
}

static int on_pause(IFSDK_PAUSE *pause)
{
    report_progress();
    return 0;
}

// Formats of bitmaps by their number of channels.
static const int FORMATS[] = { 0, FPDFBitmap_Gray, 0, FPDFBitmap_BGR, FPDFBitmap_BGRA };
// Rows in which fields are drawn at a time.
#define FIELD_ROWS 256

int channels_of(const struct drawing *drawing)
{
    return drawing->transparent ? 4 : drawing->color == COLOR_RGB ? 3 : 1;
}

static int flags_of(const struct drawing *drawing)
{
    const int order = channels_of(drawing) > 1 ? FPDF_REVERSE_BYTE_ORDER : 0;
    const int gray = drawing->color == COLOR_RGB ? 0 : FPDF_GRAYSCALE;
    const int no_smoothing =
        drawing->color == COLOR_MONO ? FPDF_RENDER_NO_SMOOTHTEXT | FPDF_RENDER_NO_SMOOTHIMAGE | FPDF_RENDER_NO_SMOOTHPATH : 0;
    return order | gray | no_smoothing | (drawing->annotations ? FPDF_ANNOT : 0);
}

static enum outcome read_raster(const struct frame *frame, struct canvas *canvas, int first)
{
    char name[32];
    snprintf(name, sizeof name, "raster-%d", frame->page);
    FILE *file = fopen(name, "rb");
    bool complete = file != NULL;
    for (int y = 0; complete && y < frame->height; y++)
        complete = fread(row_of(canvas, first + y), (size_t)frame->width * canvas->channels, 1, file) == 1;
    if (file)
        fclose(file);
    return complete ? OUTCOME_DRAWN : OUTCOME_FAILED;
}

// Draws form fields. PDFium smooths their text for LCDs, with colored edges, unless the bitmap has an alpha channel. So
// parts of a canvas without one are drawn in a buffer that has it.
static bool draw_fields(FPDF_PAGE page, const struct frame *frame, const struct drawing *drawing, struct canvas *canvas,
                        int first)
{
    const int flags = flags_of(drawing), turns = drawing->turns, width = frame->width;
    const bool has_alpha = canvas->channels != 3;
    const int step = has_alpha ? frame->height : FIELD_ROWS;
    unsigned char *buffer = has_alpha ? NULL : malloc((size_t)width * step * 4);
    bool drawn = has_alpha || buffer;
    for (int top = 0; drawn && top < frame->height; top += step) {
        const int rows = frame->height - top < step ? frame->height - top : step;
        for (int y = 0; buffer && y < rows; y++) {
            const unsigned char *from = row_of(canvas, first + top + y);
            unsigned char *to = buffer + (size_t)y * width * 4;
            for (int x = 0; x < width; x++, from += 3, to += 4)
                to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = 0xff;
        }
        void *bytes = buffer ? buffer : row_of(canvas, first);
        const int format = has_alpha ? FORMATS[canvas->channels] : FPDFBitmap_BGRA;
        const FPDF_BITMAP bitmap = FPDFBitmap_CreateEx(width, rows, format, bytes, buffer ? width * 4 : (int)canvas->stride);
        if (!(drawn = bitmap != NULL))
            break;
        FPDF_FFLDraw(document_form(), bitmap, page, -frame->left, -frame->top - top, frame->page_width, frame->page_height, turns,
                     flags);
        FPDFBitmap_Destroy(bitmap);
        for (int y = 0; buffer && y < rows; y++) {
            const unsigned char *from = buffer + (size_t)y * width * 4;
            unsigned char *to = row_of(canvas, first + top + y);
            for (int x = 0; x < width; x++, from += 4, to += 3)
                to[0] = from[0], to[1] = from[1], to[2] = from[2];
        }
    }
    free(buffer);
    return drawn;
}

enum outcome draw_page(const struct frame *frame, const struct drawing *drawing, struct canvas *canvas, int first)
{
    static IFSDK_PAUSE pause = { 1, on_pause, NULL };
    if (frame->substitute == SUBSTITUTE_RASTER)
        return read_raster(frame, canvas, first);
    FPDF_PAGE page = page_size(frame->page).width > 0 ? load_page(frame->page) : NULL;
    if (!page)
        return OUTCOME_FAILED;
    report_progress();
    // Another engine will draw this page. If that fails, it is requested again as a page that may stay empty.
    if (has_misread_image(page) && frame->substitute != SUBSTITUTE_MAY_BE_EMPTY)
        return OUTCOME_DOUBTFUL;
    if (drawing->annotations) {
        complete_annotations(page);
        // PDFium draws form fields only if the document has a form.
        if (!document_form() && has_fields(page) && !(page = load_flat_page(frame->page)))
            return OUTCOME_FAILED;
    }

    const FPDF_BITMAP bitmap = FPDFBitmap_CreateEx(frame->width, frame->height, FORMATS[canvas->channels], row_of(canvas, first),
                                                   canvas->stride);
    if (!bitmap)
        return OUTCOME_FAILED;
    const int flags = flags_of(drawing);
    const int x = -frame->left, y = -frame->top;
    const int width = frame->page_width, height = frame->page_height, turns = drawing->turns;
    const double area = (double)FPDF_GetPageWidthF(page) * FPDF_GetPageHeightF(page);
    if (area > 0)
        soften_thin_text(page, sqrt((double)width * height / area));
    const int state = FPDF_RenderPageBitmap_Start(bitmap, page, x, y, width, height, turns, flags, &pause);
    FPDF_RenderPage_Close(page);
    restore_thin_text();
    FPDFBitmap_Destroy(bitmap);
    const bool has_form = document_form() && drawing->annotations && has_fields(page);
    const bool is_complete = !has_form || draw_fields(page, frame, drawing, canvas, first);
    if (memory_exhausted() || !is_complete)
        fail_out_of_memory();
    if (state != FPDF_RENDER_DONE)
        return OUTCOME_FAILED;
    const bool whole = frame->width == width && frame->height == height;
    if (document_is_cut_off() && FPDFPage_CountObjects(page) == 0)
        return OUTCOME_FAILED;
    if (!whole || frame->substitute == SUBSTITUTE_MAY_BE_EMPTY || !is_blank(canvas, first, frame->height))
        return OUTCOME_DRAWN;
    if (FPDFPage_CountObjects(page) + FPDFPage_GetAnnotCount(page) == 0)
        return OUTCOME_DRAWN;
    return recover_contents(frame->page) ? draw_page(frame, drawing, canvas, first) : OUTCOME_DOUBTFUL;
}
