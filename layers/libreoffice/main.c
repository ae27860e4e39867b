// Loads LibreOffice once, then converts one document per line:
//
//   host <program directory> <profile URL> <private directory> <readable directory>...
//
// See layers/build/protocol/message.h for the protocol.
//
// convert   "source", "target": file URLs below /proc/self/cwd; "load": options; "filter", "save": the extension of the
//           target and options; optional are "password", "macro", "layoutSeconds", "maxPages" and "maxSeconds".
//           The macro, which belongs to the service's profile, runs between loading and saving; with an empty filter,
//           it saves the document itself. The layout may take "layoutSeconds" of processor time, and the search for
//           the pages of a sheet of more than "maxPages" "maxSeconds".
//           → {"sheets":number,"shown":[part,...]}

#include "kit.h"

#include <LibreOfficeKit/LibreOfficeKitInit.h>
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "extent.h"
#include "message.h"
#include "sandbox.h"
#include "symbols.h"
#include "time_limit.h"

static LibreOfficeKit *office;

// Source of the current request, for the password callback.
static const char *source;
static const char *password;
static int asked;

// Answers password prompts, for which LibreOffice waits, and exits on message boxes. NULL as a password gives up.
static void on_event(int type, const char *payload, void *data)
{
    (void)data;
    // Without `Batch`, which would also cancel the password prompt, LibreOffice waits forever on a message box:
    // it asks whether to repair a document that it cannot decrypt or read.
    if (type == LOK_CALLBACK_JSDIALOG && strstr(payload, "\"messagebox\"")) {
        send_code("CORRUPT_SOURCE");
        _exit(0);
    }
    if (type == LOK_CALLBACK_DOCUMENT_PASSWORD || type == LOK_CALLBACK_DOCUMENT_PASSWORD_TO_MODIFY) {
        const bool first = asked++ == 0;
        office->pClass->setDocumentPassword(office, source, first ? password : NULL);
    }
}

// Name of LibreOffice's user, who is always among the authors once a document without other authors has been loaded.
#define USER "\"name\": \"Unknown Author\""

// Whether a document has authors of tracked changes or comments. LibreOffice numbers them per process, and the number
// selects their color, so such a document must be the first text document of its process, and the last one.
static bool has_authors(LibreOfficeKitDocument *document)
{
    if (document->pClass->getDocumentType(document) != LOK_DOCTYPE_TEXT)
        return false;
    char *authors = document->pClass->getCommandValues(document, ".uno:TrackedChangeAuthors");
    bool found = false;
    for (const char *name = authors; name && (name = strstr(name, "\"name\"")); name++)
        found = found || strncmp(name, USER, strlen(USER));
    free(authors);
    return found;
}

// Directory of embedded fonts. LibreOffice never unloads one that it has used.
static char embedded_fonts[4096];

static void find_embedded_fonts(const char *profile)
{
    static const char scheme[] = "file://";
    const char *path = strncmp(profile, scheme, sizeof scheme - 1) ? profile : profile + sizeof scheme - 1;
    snprintf(embedded_fonts, sizeof embedded_fonts, "%s/user/temp/embeddedfonts/fromdocs", path);
}

static bool has_embedded_fonts(void)
{
    DIR *folder = opendir(embedded_fonts);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = *entry->d_name != '.';
    if (folder)
        closedir(folder);
    return found;
}

// Whether a document needs a process that has loaded no other text document.
static bool needs_fresh_process(LibreOfficeKitDocument *document)
{
    static int texts;
    texts += document->pClass->getDocumentType(document) == LOK_DOCTYPE_TEXT;
    return texts > 1 && has_authors(document);
}

// Whether a slide or sheet is hidden.
static bool is_hidden(LibreOfficeKitDocument *document, int part)
{
    char *facts = document->pClass->getPartInfo(document, part);
    // The value is a number for sheets and text for slides.
    const bool hidden = facts && (strstr(facts, "\"visible\": 0") || strstr(facts, "\"visible\": \"0\""));
    free(facts);
    return hidden;
}

// Counts the slides of a presentation whose slides are all hidden. Returns 0 for other documents.
static int count_hidden_slides(LibreOfficeKitDocument *document)
{
    const bool has_slides = document->pClass->getDocumentType(document) == LOK_DOCTYPE_PRESENTATION;
    const int count = has_slides ? document->pClass->getParts(document) : 0;
    for (int part = 0; part < count; part++)
        if (!is_hidden(document, part))
            return 0;
    return count;
}

// Counts the sheets, and lists the slides or sheets that are not hidden, because page ranges include hidden ones. The
// answer is finished once the document is closed.
static FILE *describe(LibreOfficeKitDocument *document)
{
    const int type = document->pClass->getDocumentType(document);
    const bool has_parts = type == LOK_DOCTYPE_SPREADSHEET || type == LOK_DOCTYPE_PRESENTATION;
    const int count = has_parts ? document->pClass->getParts(document) : 0;
    FILE *answer = begin_answer("result");
    fprintf(answer, "{\"sheets\":%d,\"shown\":[", type == LOK_DOCTYPE_SPREADSHEET ? count : 0);
    const char *comma = "";
    for (int part = 0; part < count; part++) {
        if (is_hidden(document, part))
            continue;
        fprintf(answer, "%s%d", comma, part + 1);
        comma = ",";
    }
    fprintf(answer, "]}%s", has_authors(document) || has_embedded_fonts() ? ",\"last\":true" : "");
    return answer;
}

// Exports the first page to see whether LibreOffice finds the pages in time, because it searches all of them for
// content first.
static bool find_pages(LibreOfficeKitDocument *document, const char *target)
{
    static const char first[] = "{\"PageRange\":{\"type\":\"string\",\"value\":\"1\"}}";
    return document->pClass->saveAs(document, target, "pdf", first);
}

static LibreOfficeKitDocument *load_document(const char *from, const char *options, bool kit_mode)
{
    asked = 0;
    use_kit_mode(kit_mode);
    LibreOfficeKitDocument *document = office->pClass->documentLoadWithOptions(office, from, options);
    use_kit_mode(true);
    return document;
}

// Loads the source, with the password if there is one. Returns NULL if LibreOffice failed, and whether it could read the
// document, which may still fail after it has been decrypted.
static LibreOfficeKitDocument *load_with_password(const char *options, bool *is_readable)
{
    // Message boxes of encrypted documents reach on_event only in kit mode.
    LibreOfficeKitDocument *document = load_document(source, options, password != NULL);
    *is_readable = document != NULL;
    if (!document || !password)
        return document;
    // No message boxes follow once the password is known to be correct.
    document->pClass->destroy(document);
    return load_document(source, options, false);
}

// Saves an open document. `extent` is NULL unless the document extends too far. Returns the answer, or NULL if
// LibreOffice failed.
static FILE *save_document(LibreOfficeKitDocument *document, yyjson_val *arguments, const struct extent *extent)
{
    const char *macro = text_member(arguments, "macro"), *target = text_member(arguments, "target");
    const char *filter = text_member(arguments, "filter");
    // A print range may exclude most of a sheet, and LibreOfficeKit does not report which sheets have one.
    if (extent)
        limit_search(integer_member(arguments, "maxSeconds", 0), extent);
    const bool ready = !macro || office->pClass->runMacro(office, macro);
    use_kit_mode(false);
    const bool found = ready && (!extent || find_pages(document, target));
    if (extent)
        remove_time_limit();
    const bool saved = found && (!*filter || document->pClass->saveAs(document, target, filter, text_member(arguments, "save")));
    use_kit_mode(true);
    return saved ? describe(document) : NULL;
}

// Returns the error for a document that LibreOffice did not open, or could not read after it had been decrypted.
static const char *load_error(bool is_readable)
{
    if (is_readable)
        return "CONVERSION_FAILED";
    if (!asked)
        return "CORRUPT_SOURCE";
    return password ? "WRONG_PASSWORD" : "PASSWORD_REQUIRED";
}

// Writes what LibreOffice says about its last failure, for the log of the service.
static void print_failure(void)
{
    char *said = office->pClass->getError(office);
    if (said)
        fprintf(stderr, "error: %s\n", said);
    office->pClass->freeError(said);
}

static void convert(const struct request *request)
{
    yyjson_val *arguments = request->arguments;
    source = text_member(arguments, "source");
    password = text_member(arguments, "password");
    if (!source || !text_member(arguments, "target") || !text_member(arguments, "filter")) {
        send_code("INTERNAL");
        return;
    }

    restart_random();
    const int layout = integer_member(arguments, "layoutSeconds", 0);
    if (layout > 0)
        limit_layout(layout);
    // The dialog of an encrypted document runs in the thread of the timers.
    if (!password)
        hold_timers(true);
    bool is_readable;
    LibreOfficeKitDocument *document = load_with_password(text_member(arguments, "load"), &is_readable);
    if (document && needs_fresh_process(document))
        exit_unusable();
    struct extent extent = { 0, "" };
    const bool is_too_large = document && extends_too_far(document, number_member(arguments, "maxPages", 0), &extent);
    if (is_too_large && integer_member(arguments, "maxSeconds", 0) <= 0) {
        remove_time_limit();
        document->pClass->destroy(document);
        send_error("RESULT_TOO_LARGE", EXTENT_VALUES, extent.sheet, extent.cell);
    } else if (document) {
        FILE *answer = save_document(document, arguments, is_too_large ? &extent : NULL);
        remove_time_limit();
        // LibreOffice exports no PDF without pages.
        const int hidden = answer ? 0 : count_hidden_slides(document);
        // Closed before the answer is sent, because closing still writes next to the document.
        document->pClass->destroy(document);
        if (answer)
            finish_answer(answer);
        else if (hidden > 0)
            send_error("CONVERSION_FAILED", "\"hidden\":%d", hidden);
        else {
            print_failure();
            send_code("CONVERSION_FAILED");
        }
    } else {
        remove_time_limit();
        print_failure();
        send_code(load_error(is_readable));
    }
    if (!password)
        hold_timers(false);
    // After a failure, the answer does not tell the service to replace the process.
    if (has_embedded_fonts())
        _exit(0);
    // Return the document's memory to the system.
    malloc_trim(0);
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    find_embedded_fonts(arguments[2]);
    enter_engine_sandbox(arguments + 3);
    office = lok_init_2(arguments[1], arguments[2]);
    if (!office)
        return 1;
    void *library = dlopen("libmergedlo.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        find_functions(library);
        use_system_language(library);
    }
    office->pClass->setOptionalFeatures(office, LOK_FEATURE_DOCUMENT_PASSWORD | LOK_FEATURE_DOCUMENT_PASSWORD_TO_MODIFY);
    office->pClass->registerCallback(office, on_event, NULL);
    serve_requests(convert);
    // Does not return from main, because LibreOffice's shutdown is slow and may hang.
    _exit(0);
}
