#include "draw.h"

#include <stdio.h>
#include <time.h>

#include "annotations.h"
#include "document.h"
#include "images.h"
#include "memory.h"
#include "message.h"

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

enum outcome draw_page(const struct frame *frame, const struct drawing *drawing, struct canvas *canvas, int first)
{
    static IFSDK_PAUSE pause = { 1, on_pause, NULL };
    static const int formats[] = { 0, FPDFBitmap_Gray, 0, FPDFBitmap_BGR, FPDFBitmap_BGRA };
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

    const FPDF_BITMAP bitmap = FPDFBitmap_CreateEx(frame->width, frame->height, formats[canvas->channels], row_of(canvas, first),
                                                   canvas->stride);
    if (!bitmap)
        return OUTCOME_FAILED;
    const int flags = flags_of(drawing);
    const int x = -frame->left, y = -frame->top;
    const int width = frame->page_width, height = frame->page_height, turns = drawing->turns;
    const int state = FPDF_RenderPageBitmap_Start(bitmap, page, x, y, width, height, turns, flags, &pause);
    FPDF_RenderPage_Close(page);
    if (document_form() && drawing->annotations)
        FPDF_FFLDraw(document_form(), bitmap, page, x, y, width, height, turns, flags);
    FPDFBitmap_Destroy(bitmap);
    if (memory_exhausted())
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
