// Loads LibreOffice once, then converts one document per line:
//
//   host <program directory> <profile URL> <private directory> <directory of conversions> <readable directory>...
//
// stdin   {"folder":path,"source":URL,"target":URL,"load":text,"filter":text,"save":text,"password":text,"macro":URL,
//         "maxPages":number,"maxSeconds":number}: the last four are optional, and the macro, which belongs to the service's
//         profile, runs between loading and saving; with an empty filter, it saves the document itself. The target is in the
//         folder, and the source in it or below it
// fd 3    {"ready":true} once, then {"result":{"sheets":number,"shown":[part,...]}} or
//         {"error":{"code":...,"message":...}} for each line; a result with "last":true is followed by no others, and
//         {"unusable":true} asks for the same line to be sent to a fresh process

// The headers of LibreOfficeKit use bool without including it.
#include <stdbool.h>
// Declares the password callback.
#define LOK_USE_UNSTABLE_API

#include <LibreOfficeKit/LibreOfficeKitEnums.h>
#include <LibreOfficeKit/LibreOfficeKitInit.h>
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "message.h"
#include "sandbox.h"

static LibreOfficeKit *office;

// What the password callback needs from the current request.
static const char *source;
static const char *password;
static int asked;

// LibreOffice asks before each attempt and waits for a password, or for NULL to give up.
static void on_event(int type, const char *payload, void *data)
{
    (void)data;
    // Without `Batch`, which would also cancel the password prompt, LibreOffice waits forever on a message box:
    // it asks whether to repair a document that it cannot decrypt or read.
    if (type == LOK_CALLBACK_JSDIALOG && strstr(payload, "\"messagebox\"")) {
        send_error("CORRUPT_SOURCE", "LibreOffice cannot open the document. It may be damaged.");
        _exit(0);
    }
    if (type == LOK_CALLBACK_DOCUMENT_PASSWORD || type == LOK_CALLBACK_DOCUMENT_PASSWORD_TO_MODIFY) {
        const int first = asked++ == 0;
        office->pClass->setDocumentPassword(office, source, first ? password : NULL);
    }
}

// LibreOffice's switch between its behavior for LibreOfficeKit's clients and that of soffice. NULL if a version has none.
static void (*set_kit_mode)(bool);

static void find_kit_mode(void *library)
{
    set_kit_mode = (void (*)(bool))dlsym(library, "_ZN10comphelper14LibreOfficeKit9setActiveEb");
}

// In kit mode, LibreOffice leaves form controls and the notes of cells to its client, and lays out text slightly differently.
static void use_kit_mode(bool on)
{
    if (set_kit_mode)
        set_kit_mode(on);
}

// Gives the application the language of the environment. While LibreOfficeKit starts, it gives it none, so the import of binary
// Excel files shows dates and times in formats that belong to no language.
static void use_system_language(void *library)
{
    // Application::GetSettings, AllSettings::SetLanguageTag, and the constructor and the language of SvtSysLocale.
    void *(*settings)(void) = (void *(*)(void))dlsym(library, "_ZN11Application11GetSettingsEv");
    void (*set)(void *, const void *) =
        (void (*)(void *, const void *))dlsym(library, "_ZN11AllSettings14SetLanguageTagERK11LanguageTag");
    void (*create)(void *) = (void (*)(void *))dlsym(library, "_ZN12SvtSysLocaleC1Ev");
    const void *(*language)(const void *) =
        (const void *(*)(const void *))dlsym(library, "_ZNK12SvtSysLocale14GetLanguageTagEv");
    if (!set_kit_mode || !settings || !set || !create || !language)
        return;
    // A std::shared_ptr, which owns the language.
    static void *locale[2];
    use_kit_mode(false);
    create(locale);
    set(settings(), language(locale));
    use_kit_mode(true);
}

// The name of LibreOffice's user, who is always among the authors once a document without others has been loaded.
#define USER "\"name\": \"Unknown Author\""

// Whether a document has authors of tracked changes or comments. LibreOffice numbers them per process, and the number selects
// their color, so such a document must be the first text document of its process, and the last one.
static int has_authors(LibreOfficeKitDocument *document)
{
    if (document->pClass->getDocumentType(document) != LOK_DOCTYPE_TEXT)
        return 0;
    char *authors = document->pClass->getCommandValues(document, ".uno:TrackedChangeAuthors");
    int found = 0;
    for (const char *name = authors; name && (name = strstr(name, "\"name\"")); name++)
        found = found || strncmp(name, USER, strlen(USER));
    free(authors);
    return found;
}

// Whether a document needs a process that has loaded no other text document.
static int needs_fresh_process(LibreOfficeKitDocument *document)
{
    static int texts;
    texts += document->pClass->getDocumentType(document) == LOK_DOCTYPE_TEXT;
    return texts > 1 && has_authors(document);
}

// Counts the sheets, and lists the slides or sheets that are not hidden, because page ranges count hidden ones too. The caller
// frees the line.
static char *result_line(LibreOfficeKitDocument *document)
{
    const int type = document->pClass->getDocumentType(document);
    const int has_parts = type == LOK_DOCTYPE_SPREADSHEET || type == LOK_DOCTYPE_PRESENTATION;
    const int count = has_parts ? document->pClass->getParts(document) : 0;
    const int sheets = type == LOK_DOCTYPE_SPREADSHEET ? count : 0;
    char *line = malloc(64 + 12 * (size_t)count);
    char *out = line + sprintf(line, "{\"result\":{\"sheets\":%d,\"shown\":[", sheets);
    const char *comma = "";
    for (int part = 0; part < count; part++) {
        char *facts = document->pClass->getPartInfo(document, part);
        // A number for sheets, text for slides.
        if (!facts || !(strstr(facts, "\"visible\": 0") || strstr(facts, "\"visible\": \"0\""))) {
            out += sprintf(out, "%s%d", comma, part + 1);
            comma = ",";
        }
        free(facts);
    }
    sprintf(out, "]}%s}\n", has_authors(document) ? ",\"last\":true" : "");
    return line;
}

// Writes the name of a cell, such as XFD1048576, from its indices.
static void name_cell(char name[32], long column, long row)
{
    char letters[8];
    int at = sizeof letters;
    for (letters[--at] = 0; column >= 0 && at > 0; column = column / 26 - 1)
        letters[--at] = (char)('A' + column % 26);
    snprintf(name, 32, "%s%ld", letters + at, row + 1);
}

// Describes the sheet that extends furthest, if LibreOffice would look for content on more than `most` pages, at about 8 columns
// and 50 rows per page: it looks at every page between two cells, about 200,000 in a second. Returns 0 if there are fewer.
static int extends_too_far(LibreOfficeKitDocument *document, double most, char message[256])
{
    if (most <= 0 || document->pClass->getDocumentType(document) != LOK_DOCTYPE_SPREADSHEET)
        return 0;
    const int count = document->pClass->getParts(document);
    double pages = 0, largest = 0;
    for (int part = 0; part < count; part++) {
        long column = 0, row = 0;
        document->pClass->getDataArea(document, part, &column, &row);
        const double own = (column / 8 + 1.0) * (row / 50 + 1.0);
        pages += own;
        if (own <= largest)
            continue;
        largest = own;
        char cell[32];
        name_cell(cell, column, row);
        snprintf(message, 256, "Sheet %d extends to cell %s, which is too far for this output format.", part + 1, cell);
    }
    return pages > most;
}

// What is sent if LibreOffice takes too long to find the pages.
static const char *too_far;

static void stop_search(int signal)
{
    (void)signal;
    send_error("RESULT_TOO_LARGE", too_far);
    _exit(0);
}

// Sends `message` and ends the process once it has used so many more seconds of processor time. 0 lifts the limit.
static void limit_search(long seconds, const char *message)
{
    const struct itimerval time = { { 0, 0 }, { seconds, 0 } };
    too_far = message;
    signal(SIGPROF, stop_search);
    setitimer(ITIMER_PROF, &time, NULL);
}

// Exports the first page to see whether LibreOffice finds the pages in time: it looks for content on all of them first.
static int find_pages(LibreOfficeKitDocument *document, const char *target)
{
    static const char first[] = "{\"PageRange\":{\"type\":\"string\",\"value\":\"1\"}}";
    return document->pClass->saveAs(document, target, "pdf", first);
}

// Frees a URL and returns it with another start. The caller frees the result.
static char *replace_start(char *url, size_t length, const char *start)
{
    char *result = malloc(strlen(start) + strlen(url + length) + 1);
    strcpy(stpcpy(result, start), url + length);
    free(url);
    return result;
}

// Makes the folder the working directory and rewrites the URLs to start with it, because documents can print their own path.
// A path relative to `/proc/self/cwd` is absolute for LibreOffice, and equal on all machines.
static void enter_folder(const char *folder, char **from, char **target)
{
    const char *name = strrchr(*target, '/');
    const size_t length = name ? (size_t)(name - *target) : 0;
    // The pool treats this as a crash.
    if (!folder || chdir(folder) || strncmp(*from, *target, length + 1))
        _exit(1);
    *from = replace_start(*from, length, "file:///proc/self/cwd");
    *target = replace_start(*target, length, "file:///proc/self/cwd");
}

static LibreOfficeKitDocument *load_document(const char *from, const char *options, bool kit_mode)
{
    asked = 0;
    use_kit_mode(kit_mode);
    LibreOfficeKitDocument *document = office->pClass->documentLoadWithOptions(office, from, options);
    use_kit_mode(true);
    return document;
}

static void convert(const char *request)
{
    char *folder = text_member(request, "folder");
    char *target = text_member(request, "target");
    char *load = text_member(request, "load");
    char *filter = text_member(request, "filter");
    char *save = text_member(request, "save");
    char *given = text_member(request, "password");
    char *macro = text_member(request, "macro");
    char *from = text_member(request, "source");
    enter_folder(folder, &from, &target);
    source = from;
    password = given;

    // The message boxes of encrypted documents reach on_event only in kit mode.
    LibreOfficeKitDocument *document = load_document(from, load, given != NULL);
    const int is_readable = document != NULL;
    if (document && given) {
        // None will follow now that the password is known to be right.
        document->pClass->destroy(document);
        document = load_document(from, load, false);
    }
    if (document && needs_fresh_process(document)) {
        send_line("{\"unusable\":true}\n");
        _exit(1);
    }
    char message[256] = "";
    const int far = document && extends_too_far(document, number_member(request, "maxPages", 0), message);
    const long seconds = number_member(request, "maxSeconds", 0);
    if (far && !seconds) {
        document->pClass->destroy(document);
        send_error("RESULT_TOO_LARGE", message);
    } else if (document) {
        // A print range may exclude most of a sheet, and LibreOfficeKit does not tell which sheets have one.
        if (far)
            limit_search(seconds, message);
        const int ready = !macro || office->pClass->runMacro(office, macro);
        use_kit_mode(false);
        const int found = ready && (!far || find_pages(document, target));
        if (far)
            limit_search(0, NULL);
        const int saved = found && (!*filter || document->pClass->saveAs(document, target, filter, save));
        use_kit_mode(true);
        char *line = saved ? result_line(document) : NULL;
        // Closed before the reply is sent, because closing still writes next to the document.
        document->pClass->destroy(document);
        if (line)
            send_line(line);
        else
            send_error("CONVERSION_FAILED", "LibreOffice opened the document but could not convert it.");
        free(line);
    } else if (is_readable) {
        send_error("CONVERSION_FAILED", "LibreOffice opened the document but could not convert it.");
    } else if (asked && !password) {
        send_error("PASSWORD_REQUIRED", "The document is encrypted. Set '--password' to open it.");
    } else if (asked) {
        send_error("WRONG_PASSWORD", "The value of '--password' does not open the document.");
    } else {
        send_error("CORRUPT_SOURCE", "LibreOffice cannot open the document. It may be damaged.");
    }
    free(folder), free(target), free(load), free(filter), free(save), free(given), free(macro), free(from);
    // Return the document's memory to the system.
    malloc_trim(0);
}

int main(int count, char **arguments)
{
    if (count < 6)
        return 2;
    const char *private[] = { arguments[3], NULL };
    const char *conversions[] = { arguments[4], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 5, private, conversions };
    if (enter_sandbox(&sandbox) < 0)
        return 3;
    office = lok_init_2(arguments[1], arguments[2]);
    if (!office)
        return 1;
    void *library = dlopen("libmergedlo.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        find_kit_mode(library);
        use_system_language(library);
    }
    office->pClass->setOptionalFeatures(office, LOK_FEATURE_DOCUMENT_PASSWORD | LOK_FEATURE_DOCUMENT_PASSWORD_TO_MODIFY);
    office->pClass->registerCallback(office, on_event, NULL);
    send_line("{\"ready\":true}\n");

    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        convert(line);
    // Does not return from main, because LibreOffice's shutdown is slow and may hang.
    _exit(0);
}
