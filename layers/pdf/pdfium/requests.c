#include "requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "draw.h"
#include "encode.h"
#include "memory.h"
#include "message.h"

static const char *json_bool(bool value)
{
    return value ? "true" : "false";
}

void open_request(yyjson_val *arguments)
{
    const int count = document_page_count();
    const int from = integer_member(arguments, "from", 1), to = integer_member(arguments, "to", count);
    const int first = from < 1 ? 1 : from, last = to < count ? to : count;
    FILE *answer = begin_answer("result");
    fprintf(answer, "{\"pageCount\":%d,\"sizes\":[", count);
    for (int page = first; page <= last; page++) {
        const struct size size = page_size(page);
        fprintf(answer, "%s[%.6g,%.6g]", page > first ? "," : "", size.width, size.height);
    }
    const struct survey survey = document_survey();
    fprintf(answer, "],\"foreignGlyphs\":%s,\"hiddenLayers\":%s,\"userUnits\":%s,\"bareLines\":%s",
            json_bool(survey.foreign_glyphs), json_bool(survey.hidden_layers), json_bool(survey.user_units),
            json_bool(survey.bare_lines));
    fprintf(answer, ",\"hasLinks\":%s,\"isSigned\":%s,\"isArchive\":%s}", json_bool(survey.has_links),
            json_bool(survey.is_signed), json_bool(survey.is_archive));
    finish_answer(answer);
}

// One request: its frames, and lists of the pages that were not drawn. A doubtful page needs a substitute.
struct job {
    struct frame *frames;
    int count;
    struct drawing drawing;
    struct encoding encoding;
    bool trims;
    int *failed, *doubtful;
    int failures, doubtfuls;
};

static bool read_frame(yyjson_val *value, struct frame *frame)
{
    static const char *const substitutes[] = { "raster", "mayBeEmpty", NULL };
    static const enum substitute known[] = { SUBSTITUTE_RASTER, SUBSTITUTE_MAY_BE_EMPTY };
    const int substitute = index_of(text_member(value, "substitute"), substitutes);
    *frame = (struct frame) {
        .page = integer_member(value, "page", 0),
        .page_width = integer_member(value, "pageWidth", 0),
        .page_height = integer_member(value, "pageHeight", 0),
        .left = integer_member(value, "left", -1),
        .top = integer_member(value, "top", -1),
        .width = integer_member(value, "width", 0),
        .height = integer_member(value, "height", 0),
        .substitute = substitute < 0 ? SUBSTITUTE_NONE : known[substitute],
        .x_density = number_member(value, "xDensity", 0),
        .y_density = number_member(value, "yDensity", 0),
    };
    const bool densities = frame->x_density >= 1 && frame->x_density <= MAX_DENSITY && frame->y_density >= 1
                           && frame->y_density <= MAX_DENSITY;
    return frame->page > 0 && frame->page_width > 0 && frame->page_height > 0 && frame->left >= 0 && frame->top >= 0
           && frame->width > 0 && frame->width <= MAX_SIDE && frame->height > 0 && frame->height <= MAX_SIDE && densities;
}

// Returns false if the request is not valid.
static bool read_frames(yyjson_val *list, struct job *job)
{
    const size_t count = yyjson_arr_size(list);
    if (count == 0 || count > MAX_FRAMES)
        return false;
    job->frames = calloc(count, sizeof *job->frames);
    // Each frame is in at most one of the lists.
    job->failed = calloc(count, sizeof *job->failed);
    job->doubtful = calloc(count, sizeof *job->doubtful);
    if (!job->frames || !job->failed || !job->doubtful)
        fail_out_of_memory();
    size_t index, end;
    yyjson_val *value;
    yyjson_arr_foreach(list, index, end, value)
        if (!read_frame(value, job->frames + index))
            return false;
    job->count = (int)count;
    return true;
}

static void note(struct job *job, const struct frame *frame, enum outcome outcome)
{
    if (outcome == OUTCOME_FAILED)
        job->failed[job->failures++] = frame->page;
    if (outcome == OUTCOME_DOUBTFUL)
        job->doubtful[job->doubtfuls++] = frame->page;
}

static struct canvas new_canvas(const struct job *job, int width, int height)
{
    const int channels = channels_of(&job->drawing);
    // The pixels, and the same amount for their compressed form.
    allow_extra_memory(2 * ((size_t)width * channels + 1) * height);
    struct canvas canvas = create_canvas(width, height, channels);
    if (!canvas.bytes)
        fail_out_of_memory();
    return canvas;
}

static void finish(struct job *job, struct canvas *canvas)
{
    // Form fields are always drawn in color on a canvas with transparency, whatever the flags are.
    if (job->drawing.color != COLOR_RGB && canvas->channels == 4)
        remove_color(canvas);
    if (job->drawing.color == COLOR_MONO && !dither(canvas))
        fail_out_of_memory();
}

// Returns the file name of a page, or of all pages if `page` is 0.
static void name_file(const struct job *job, int page, char *name, size_t size)
{
    const char *extension = extension_of(job->encoding.format);
    if (page)
        snprintf(name, size, "page-%d.%s", page, extension);
    else
        snprintf(name, size, "pages.%s", extension);
}

static void send_image(const char *name, int page, const struct canvas *canvas)
{
    FILE *answer = begin_answer("output");
    fprintf(answer, "{\"name\":\"%s\",\"page\":%d,\"width\":%d,\"height\":%d,\"channels\":%d}", name, page, canvas->width,
            canvas->height, canvas->channels);
    finish_answer(answer);
}

static bool fail_to_write(void)
{
    if (memory_exhausted())
        fail_out_of_memory();
    send_code("INTERNAL");
    return false;
}

// Draws every frame as a file, or as a page of one TIFF file. Reports each file as soon as it is complete.
static bool draw_files(struct job *job, bool one_file)
{
    bool first = true;
    char name[64];
    for (int index = 0; index < job->count; index++) {
        const struct frame *frame = job->frames + index;
        struct canvas canvas = new_canvas(job, frame->width, frame->height);
        const enum outcome outcome = draw_page(frame, &job->drawing, &canvas, 0);
        note(job, frame, outcome);
        // A file that lacks a page would have to be written again.
        if (outcome == OUTCOME_DRAWN && (!one_file || job->failures + job->doubtfuls == 0)) {
            int width = frame->width, height = frame->height;
            if (job->trims)
                trim(&canvas, 0, height, width, 0, &width, &height);
            shrink(&canvas, width, height);
            finish(job, &canvas);
            job->encoding.x_density = frame->x_density, job->encoding.y_density = frame->y_density;
            name_file(job, one_file ? 0 : frame->page, name, sizeof name);
            const bool written = job->encoding.format == FORMAT_TIFF
                                     ? append_tiff(&canvas, name, &job->encoding, !one_file || first)
                                     : write_image(&canvas, name, &job->encoding);
            if (!written) {
                free_canvas(&canvas);
                return fail_to_write();
            }
            first = false;
            // The single file is only complete, and reported, at the end.
            if (!one_file || index == job->count - 1)
                send_image(name, one_file ? 0 : frame->page, &canvas);
        }
        free_canvas(&canvas);
        if (one_file || outcome != OUTCOME_DRAWN)
            send_heartbeat(index + 1);
    }
    return true;
}

// Stacks all frames on one canvas, aligned to its left edge. The image has the resolution of the first frame.
static bool draw_stack(struct job *job)
{
    int width = 0, height = 0;
    for (int index = 0; index < job->count; index++) {
        if (job->frames[index].height > MAX_SIDE - height) {
            send_code("INTERNAL");
            return false;
        }
        width = job->frames[index].width > width ? job->frames[index].width : width;
        height += job->frames[index].height;
    }
    struct canvas canvas = new_canvas(job, width, height);
    int top = 0, target = 0, widest = 0;
    for (int index = 0; index < job->count; index++) {
        const struct frame *frame = job->frames + index;
        note(job, frame, draw_page(frame, &job->drawing, &canvas, top));
        int columns = frame->width, rows = frame->height;
        if (job->trims)
            trim(&canvas, top, rows, columns, target, &columns, &rows);
        top += frame->height;
        target += rows;
        widest = columns > widest ? columns : widest;
        send_heartbeat(index + 1);
    }
    bool written = true;
    if (job->failures + job->doubtfuls == 0) {
        shrink(&canvas, widest, target);
        finish(job, &canvas);
        char name[64];
        name_file(job, 0, name, sizeof name);
        written = write_image(&canvas, name, &job->encoding);
        if (written)
            send_image(name, 0, &canvas);
    }
    free_canvas(&canvas);
    return written || fail_to_write();
}

static void put_list(FILE *out, const char *name, const int *pages, int count)
{
    fprintf(out, "\"%s\":[", name);
    for (int index = 0; index < count; index++)
        fprintf(out, "%s%d", index ? "," : "", pages[index]);
    fputs("]", out);
}

// Arguments: "frames" as in `read_frame`; "oneFile": all pages in one file; "format" jpg, png, tiff or raw, which is also
// the extension of files; "color" rgb, gray or mono; "transparent", "annotations", "trim", "turns", "quality".
void draw_request(yyjson_val *arguments)
{
    static const char *const colors[] = { [COLOR_RGB] = "rgb", [COLOR_GRAY] = "gray", [COLOR_MONO] = "mono", NULL };
    struct job job = { 0 };
    const int color = index_of(text_member(arguments, "color"), colors);
    const int format = format_of(text_member(arguments, "format"));
    if (color < 0 || format < 0 || !read_frames(yyjson_obj_get(arguments, "frames"), &job)) {
        send_code("INTERNAL");
    } else {
        job.trims = flag_member(arguments, "trim");
        job.drawing = (struct drawing) {
            .color = (enum color)color,
            .transparent = flag_member(arguments, "transparent"),
            .turns = integer_member(arguments, "turns", 0),
            .annotations = flag_member(arguments, "annotations"),
        };
        job.encoding = (struct encoding) {
            .format = (enum format)format,
            .quality = integer_member(arguments, "quality", 90),
            .x_density = job.frames->x_density,
            .y_density = job.frames->y_density,
            .color = (enum color)color,
        };
        const bool one_file = flag_member(arguments, "oneFile");
        if (one_file && job.encoding.format != FORMAT_TIFF ? draw_stack(&job) : draw_files(&job, one_file)) {
            FILE *answer = begin_answer("result");
            fputs("{", answer);
            put_list(answer, "failed", job.failed, job.failures);
            fputs(",", answer);
            put_list(answer, "doubtful", job.doubtful, job.doubtfuls);
            fputs("}", answer);
            finish_answer(answer);
        }
    }
    free(job.frames), free(job.failed), free(job.doubtful);
}

// Receives the file that PDFium writes.
struct sink {
    FPDF_FILEWRITE writer;
    FILE *file;
};

static int write_block(FPDF_FILEWRITE *writer, const void *bytes, unsigned long size)
{
    return fwrite(bytes, 1, size, ((struct sink *)writer)->file) == size;
}

void save_request(yyjson_val *arguments)
{
    const char *target = text_member(arguments, "target");
    struct sink sink = { .writer = { .version = 1, .WriteBlock = write_block }, .file = target ? fopen(target, "wb") : NULL };
    bool saved = sink.file && FPDF_SaveAsCopy(document_handle(), &sink.writer, FPDF_REMOVE_SECURITY);
    if (sink.file && fclose(sink.file) != 0)
        saved = false;
    if (!saved) {
        send_code("CORRUPT_SOURCE");
        return;
    }
    FILE *answer = begin_answer("result");
    fputs("{}", answer);
    finish_answer(answer);
}
