#include "requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "draw.h"
#include "encode.h"
#include "memory.h"
#include "message.h"

void open_request(const char *request)
{
    const int count = page_count();
    const int from = number_member(request, "from", 1), to = number_member(request, "to", count);
    const int last = to < count ? to : count;
    char *line = malloc(128 + 48 * (size_t)(last < from ? 0 : last - from + 1));
    char *out = line + sprintf(line, "{\"result\":{\"pageCount\":%d,\"sizes\":[", count);
    for (int page = from; page <= last; page++) {
        const struct size size = page_size(page);
        out += sprintf(out, "%s[%.6g,%.6g]", page > from ? "," : "", size.width, size.height);
    }
    strcpy(out, "]}}\n");
    send_line(line);
    free(line);
}

// One request: its frames, and the lists of those that were not drawn.
struct job {
    struct frame *frames;
    int count;
    struct drawing drawing;
    struct encoding encoding;
    // Of the conversion; images are page-1.png and so on, or pages.png, in it.
    char *directory;
    int trims;
    int *failed, *empty;
    int failures, empties;
};

// Reads `pages`: eight integers and two fractions per frame, as `struct frame` lists them.
static struct frame *read_frames(const char *text, int *count)
{
    *count = 1;
    for (const char *at = text; (at = strchr(at, ';')); at++)
        ++*count;
    struct frame *frames = calloc(*count, sizeof *frames);
    char *at = (char *)text;
    for (int index = 0; index < *count; index++, at++) {
        int *numbers = &frames[index].page;
        for (int number = 0; number < 8; number++)
            numbers[number] = strtol(at, &at, 10);
        frames[index].x_density = strtod(at, &at);
        frames[index].y_density = strtod(at, &at);
    }
    return frames;
}

static void note(struct job *job, const struct frame *frame, enum drawn drawn)
{
    if (drawn == FAILED)
        job->failed[job->failures++] = frame->page;
    if (drawn == EMPTY)
        job->empty[job->empties++] = frame->page;
}

static struct canvas new_canvas(const struct job *job, int width, int height)
{
    const int channels = channels_of(&job->drawing);
    // The pixels, and as much for their compressed form.
    allow_extra_memory(2 * ((size_t)width * channels + 1) * height);
    struct canvas canvas = create_canvas(width, height, channels);
    if (!canvas.bytes)
        fail_exhausted();
    return canvas;
}

static void finish(struct job *job, struct canvas *canvas)
{
    // Form fields are drawn in color on a canvas with transparency, whatever the flags are.
    if (job->drawing.color != RGB && canvas->channels == 4)
        remove_color(canvas);
    if (job->drawing.color == MONO && !dither(canvas))
        fail_exhausted();
}

// Returns the file name of a page, or of all pages if `page` is 0.
static void name_file(const struct job *job, int page, char *path, size_t size)
{
    if (page)
        snprintf(path, size, "%s/page-%d.%s", job->directory, page, job->encoding.format);
    else
        snprintf(path, size, "%s/pages.%s", job->directory, job->encoding.format);
}

// Reports a finished image. Directories are named by the service, so their paths need no escaping.
static void send_image(const char *path, int page, const struct canvas *canvas)
{
    char line[4352];
    snprintf(line, sizeof line, "{\"event\":{\"page\":%d,\"width\":%d,\"height\":%d,\"channels\":%d,\"path\":\"%s\"}}\n", page,
             canvas->width, canvas->height, canvas->channels, path);
    send_line(line);
}

static int fail_to_write(void)
{
    if (memory_exhausted())
        fail_exhausted();
    send_error("INTERNAL", "The image could not be written.");
    return 0;
}

// Draws every frame as a file, or as a page of one TIFF file. Sends an event with the size after each.
static int draw_files(struct job *job, int one_file)
{
    int first = 1;
    for (int index = 0; index < job->count; index++) {
        const struct frame *frame = job->frames + index;
        struct canvas canvas = new_canvas(job, frame->width, frame->height);
        const enum drawn drawn = draw_page(frame, &job->drawing, &canvas, 0);
        note(job, frame, drawn);
        // A file with a page missing would have to be written again.
        if (drawn != DRAWN || (one_file && job->failures + job->empties > 0)) {
            free_canvas(&canvas);
            continue;
        }
        int width = frame->width, height = frame->height;
        if (job->trims)
            trim(&canvas, 0, height, width, 0, &width, &height);
        shrink(&canvas, width, height);
        finish(job, &canvas);
        job->encoding.x_density = frame->x_density, job->encoding.y_density = frame->y_density;
        char path[4096];
        name_file(job, one_file ? 0 : frame->page, path, sizeof path);
        const int written = strcmp(job->encoding.format, "tiff")
                                ? write_image(&canvas, path, &job->encoding)
                                : append_tiff(&canvas, path, &job->encoding, one_file ? first : 1);
        free_canvas(&canvas);
        if (!written)
            return fail_to_write();
        first = 0;
        // The single file is only complete, and moved, at the end.
        send_image(one_file ? "" : path, frame->page, &canvas);
    }
    return 1;
}

// Draws all frames on one canvas, top to bottom, at its left edge. The image has the resolution of the first.
static int draw_stack(struct job *job)
{
    int width = 0, height = 0;
    for (int index = 0; index < job->count; index++) {
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
        send_line("{\"event\":{\"drawn\":true}}\n");
    }
    int written = 1;
    if (job->failures + job->empties == 0) {
        shrink(&canvas, widest, target);
        finish(job, &canvas);
        char path[4096];
        name_file(job, 0, path, sizeof path);
        written = write_image(&canvas, path, &job->encoding);
        if (written)
            send_image(path, 0, &canvas);
    }
    free_canvas(&canvas);
    return written || fail_to_write();
}

static char *put_list(char *out, const int *pages, int count)
{
    *out++ = '[';
    for (int index = 0; index < count; index++)
        out += sprintf(out, "%s%d", index ? "," : "", pages[index]);
    *out++ = ']';
    *out = 0;
    return out;
}

// Request members: "pages", frames of ten numbers separated by semicolons; "directory"; "stacked" 1: all pages in one file;
// "format", which is also the extension of files; "color" rgb, gray or mono; numbers "transparent", "turns", "annotations",
// "trim", "quality".
void draw_request(const char *request)
{
    char *pages = text_member(request, "pages"), *color = text_member(request, "color");
    char *format = text_member(request, "format");
    struct job job = { 0 };
    job.frames = read_frames(pages, &job.count);
    job.directory = text_member(request, "directory");
    job.trims = number_member(request, "trim", 0);
    job.failed = malloc(2 * job.count * sizeof *job.failed);
    job.empty = job.failed + job.count;
    const enum color chosen = *color == 'm' ? MONO : *color == 'g' ? GRAY : RGB;
    job.drawing = (struct drawing) { chosen, number_member(request, "transparent", 0), number_member(request, "turns", 0),
                                     number_member(request, "annotations", 1), job.directory };
    job.encoding = (struct encoding) { format, number_member(request, "quality", 90), job.frames->x_density,
                                       job.frames->y_density, chosen };
    const int stacked = number_member(request, "stacked", 0), tiff = !strcmp(format, "tiff");
    if (stacked && !tiff ? draw_stack(&job) : draw_files(&job, stacked)) {
        char *line = malloc(64 + 12 * (size_t)job.count);
        char *out = line + sprintf(line, "{\"result\":{\"failed\":");
        out = put_list(out, job.failed, job.failures);
        out = put_list(out + sprintf(out, ",\"empty\":"), job.empty, job.empties);
        strcpy(out, "}}\n");
        send_line(line);
        free(line);
    }
    free(job.frames), free(job.directory), free(job.failed);
    free(pages), free(color), free(format);
}
