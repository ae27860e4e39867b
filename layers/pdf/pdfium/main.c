// Draws pages of PDF files with PDFium and writes them as images; see layers/build/protocol/message.h for the protocol:
//
//   pdfium <folder of fonts> <private directory> <readable directory>...
//
// Every request names its "document" and "source" and may give a "password" and "cropBox" (false: show the whole media box):
//
//   open   "from", "to"         → {"pageCount":number,"sizes":[[width,height],...],...}: points of these pages, 0 if unknown,
//                                 and what `survey_document` found
//   draw   "frames", ...        → {"failed":[page,...],"doubtful":[page,...]}, see `draw_request`
//   text   "pages", "target"    → {"failed":page}, see `text_request`
//   save   "target"             → {}: writes the document without encryption
#include <stdlib.h>
#include <unistd.h>

#include "document.h"
#include "fonts.h"
#include "memory.h"
#include "message.h"
#include "requests.h"
#include "sandbox.h"

// The documents of the test corpus need 60 MB, and a picture of 100 megapixels needs 160 MB.
#define MAX_MEMORY (640UL << 20)

static void handle(const struct request *request)
{
    static const char *const operations[] = { "open", "draw", "text", "save", NULL };
    enum { OPEN, DRAW, TEXT, SAVE };
    send_heartbeat(0);
    // Without a source, another engine has drawn all pages.
    const char *code = text_member(request->arguments, "source") ? open_document(request->arguments) : NULL;
    const int operation = index_of(request->operation, operations);
    if (code == CERTIFICATE)
        send_error("UNSUPPORTED_SOURCE", "\"needsCertificate\":true");
    else if (code)
        send_code(code);
    else if (operation == OPEN)
        open_request(request->arguments);
    else if (operation == DRAW)
        draw_request(request->arguments);
    else if (operation == TEXT)
        text_request(request->arguments);
    else if (operation == SAVE)
        save_request(request->arguments);
    else
        send_code("INTERNAL");
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    enter_engine_sandbox(arguments + 2);
    limit_memory(MAX_MEMORY);
    FPDF_InitLibrary();
    use_fonts(arguments[1]);
    serve_requests(handle);
    _exit(0);
}
