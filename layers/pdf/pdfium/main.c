// Draws pages of PDF files with PDFium and writes them as images; see layers/build/host/message.h for the protocol:
//
//   pdfium <folder of fonts> <private directory> <directory of conversions> <readable directory>...
//
// Every request names its "document" and "source" and may give a "password" and "cropBox" (false: show the whole media box):
//
//   open   "from", "to"         → {"pageCount":number,"sizes":[[width,height],...]}: points of these pages, 0 if unknown
//   draw   "frames", ...        → {"failed":[page,...],"empty":[page,...]}, see `draw_request`
//   text   "pages", "target"    → {}, see `text_request`
#include <stdlib.h>
#include <unistd.h>

#include "document.h"
#include "fonts.h"
#include "memory.h"
#include "message.h"
#include "requests.h"
#include "sandbox.h"

// The documents of the test corpus need 60 MB, a picture of 100 megapixels 160 MB.
#define MAX_MEMORY (640UL << 20)

static void handle(const struct request *request)
{
    static const char *const operations[] = { "open", "draw", "text", NULL };
    enum { OPEN, DRAW, TEXT };
    send_heartbeat(0);
    // Without a source, all pages were drawn by another engine.
    const char *code = text_member(request->arguments, "source") ? open_document(request->arguments) : NULL;
    const int operation = index_of(request->operation, operations);
    if (code)
        send_error(code, "%s", "");
    else if (operation == OPEN)
        open_request(request->arguments);
    else if (operation == DRAW)
        draw_request(request->arguments);
    else if (operation == TEXT)
        text_request(request->arguments);
    else
        send_error("INTERNAL", "%s", "");
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    const char *private[] = { arguments[2], NULL };
    const char *conversions[] = { arguments[3], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 4, private, conversions, NULL, 0 };
    if (enter_sandbox(&sandbox) < 0)
        return 3;
    limit_memory(MAX_MEMORY);
    FPDF_InitLibrary();
    use_fonts(arguments[1]);
    serve_requests(handle);
    _exit(0);
}
