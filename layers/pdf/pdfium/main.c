// Draws pages of PDF files with PDFium and writes them as images, one request per line:
//
//   pdfium <folder of fonts> <private directory> <directory of conversions> <readable directory>...
//
// Every request names its "source" and may give a "password" and "cropBox" (0: show the whole media box). By "kind":
//
//   open   "from", "to"              → {"pageCount":number,"sizes":[[width,height],...]}: points of these pages, 0 if unknown
//   draw   "pages", "directory", ... → {"failed":[page,...],"empty":[page,...]}, see `draw_request`
//   text   "pages", "target", ...    → {}, see `text_request`
//
// fd 3    {"ready":true} once; {"event":...} while a request runs; then {"result":...} or {"error":{"code":...,"message":...}}
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document.h"
#include "fonts.h"
#include "memory.h"
#include "message.h"
#include "requests.h"
#include "sandbox.h"

// The documents of the test corpus need 60 MB, a picture of 100 megapixels 160 MB.
#define MAX_MEMORY (640UL << 20)

static const char *message_of(const char *code)
{
    if (!strcmp(code, "UNSUPPORTED_SOURCE"))
        return "The source is not a PDF document.";
    if (!strcmp(code, "PASSWORD_REQUIRED"))
        return "The document is encrypted. Set '-upw' to open it.";
    if (!strcmp(code, "WRONG_PASSWORD"))
        return "The password is wrong.";
    return "The document is damaged and cannot be displayed.";
}

static void serve(const char *request)
{
    send_line("{\"event\":{\"started\":true}}\n");
    // Without a source, all pages were drawn by another engine.
    char *source = text_member(request, "source");
    const char *code = source ? open_document(request) : NULL;
    free(source);
    if (code) {
        send_error(code, message_of(code));
        return;
    }
    char *kind = text_member(request, "kind");
    if (!strcmp(kind, "open"))
        open_request(request);
    else if (!strcmp(kind, "text"))
        text_request(request);
    else
        draw_request(request);
    free(kind);
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    const char *private[] = { arguments[2], NULL };
    const char *conversions[] = { arguments[3], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 4, private, conversions };
    if (enter_sandbox(&sandbox) < 0)
        return 3;
    limit_memory(MAX_MEMORY);
    FPDF_InitLibrary();
    use_fonts(arguments[1]);
    send_line("{\"ready\":true}\n");

    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        serve(line);
    _exit(0);
}
