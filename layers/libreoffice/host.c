// The warm office engine: loads LibreOffice once, then converts one document a line.
//
//   host <program directory> <profile URL> <private directory> <directory of conversions> <readable directory>...
//
// stdin   {"source":URL,"target":URL,"load":text,"filter":text,"save":text,"password":text,"macro":URL}; the last two may be
//         missing, and a macro, of the profile's own, runs between loading and saving
// fd 3    {"ready":true} once (with "filesOpen":true where the kernel cannot close them), then {"result":{"shown":[slide,...]}} or {"error":{"code":...,"message":...}} for each line
//
// Standard output and error are free for the noise of the engine.
// Before the headers of LibreOfficeKit, which use bool without it.
#include <stdbool.h>
// The password callback is not declared without it.
#define LOK_USE_UNSTABLE_API

#include <LibreOfficeKit/LibreOfficeKitEnums.h>
#include <LibreOfficeKit/LibreOfficeKitInit.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox.h"

#define ANSWERS 3

static LibreOfficeKit *office;

// What the password callback needs to know of the request that runs.
static const char *source;
static const char *password;
static int asked;

static void answer(const char *line)
{
    if (write(ANSWERS, line, strlen(line)) < 0)
        _exit(1);
}

static void answer_error(const char *code, const char *message)
{
    char line[512];
    snprintf(line, sizeof line, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n", code, message);
    answer(line);
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = code;
    } else if (code < 0x800) {
        *out++ = 0xc0 | code >> 6;
        *out++ = 0x80 | (code & 0x3f);
    } else {
        *out++ = 0xe0 | code >> 12;
        *out++ = 0x80 | (code >> 6 & 0x3f);
        *out++ = 0x80 | (code & 0x3f);
    }
    return out;
}

// Reads the member `name` of one flat JSON object of texts as JSON.stringify writes it (characters above 0x7f come as
// UTF-8, so \u stands for control characters only). Answers NULL where there is none; the caller frees.
static char *member(const char *json, const char *name)
{
    char opening[64];
    snprintf(opening, sizeof opening, "\"%s\":\"", name);
    const char *in = strstr(json, opening);
    if (!in)
        return NULL;
    in += strlen(opening);
    char *text = malloc(strlen(in) + 1);
    char *out = text;
    while (*in && *in != '"') {
        if (*in != '\\') {
            *out++ = *in++;
            continue;
        }
        const char kind = in[1];
        unsigned code = kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind == 'b' ? '\b'
                      : kind == 'f' ? '\f' : (unsigned char)kind;
        if (kind == 'u')
            sscanf(in + 2, "%4x", &code);
        out = put_utf8(out, code);
        in += kind == 'u' ? 6 : 2;
    }
    *out = 0;
    return text;
}

// LibreOffice asks once before each try, and waits until it is told a password, or NULL to give up.
static void on_event(int type, const char *payload, void *data)
{
    (void)payload;
    (void)data;
    if (type == LOK_CALLBACK_DOCUMENT_PASSWORD || type == LOK_CALLBACK_DOCUMENT_PASSWORD_TO_MODIFY) {
        const int first = asked++ == 0;
        office->pClass->setDocumentPassword(office, source, first ? password : NULL);
    }
}

// Names the slides that are shown, because page ranges count the hidden ones too. The caller frees.
static char *result_line(LibreOfficeKitDocument *document)
{
    const int slides = document->pClass->getDocumentType(document) == LOK_DOCTYPE_PRESENTATION;
    const int count = slides ? document->pClass->getParts(document) : 0;
    char *line = malloc(64 + 12 * (size_t)count);
    char *out = line + sprintf(line, "{\"result\":{\"shown\":[");
    const char *comma = "";
    for (int part = 0; part < count; part++) {
        char *facts = document->pClass->getPartInfo(document, part);
        if (!facts || !strstr(facts, "\"visible\": \"0\"")) {
            out += sprintf(out, "%s%d", comma, part + 1);
            comma = ",";
        }
        free(facts);
    }
    strcpy(out, "]}}\n");
    return line;
}

static void convert(const char *request)
{
    char *target = member(request, "target");
    char *load = member(request, "load");
    char *filter = member(request, "filter");
    char *save = member(request, "save");
    char *given = member(request, "password");
    char *macro = member(request, "macro");
    char *from = member(request, "source");
    source = from;
    password = given;
    asked = 0;

    LibreOfficeKitDocument *document = office->pClass->documentLoadWithOptions(office, from, load);
    if (document) {
        const int ready = !macro || office->pClass->runMacro(office, macro);
        const int saved = ready && document->pClass->saveAs(document, target, filter, save);
        char *line = saved ? result_line(document) : NULL;
        // Closed before anyone hears of it: closing still writes beside the document.
        document->pClass->destroy(document);
        if (line)
            answer(line);
        else
            answer_error("CONVERSION_FAILED", "The document was opened, but could not be converted.");
        free(line);
    } else if (asked) {
        if (password)
            answer_error("WRONG_PASSWORD", "The password given as '--password' does not open the document.");
        else
            answer_error("PASSWORD_REQUIRED", "The document is locked: give its password as '--password'.");
    } else {
        answer_error("CORRUPT_SOURCE", "The document is damaged: LibreOffice cannot open it.");
    }
    free(target), free(load), free(filter), free(save), free(given), free(macro), free(from);
    // Give the pages of the last document back, so that the process stays as small as it began.
    malloc_trim(0);
}

int main(int count, char **arguments)
{
    if (count < 6)
        return 2;
    const char *private[] = { arguments[3], NULL };
    const char *conversions[] = { arguments[4], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 5, private, conversions };
    const int shut = enter_sandbox(&sandbox);
    if (shut < 0)
        return 3;
    office = lok_init_2(arguments[1], arguments[2]);
    if (!office)
        return 1;
    office->pClass->setOptionalFeatures(office, LOK_FEATURE_DOCUMENT_PASSWORD | LOK_FEATURE_DOCUMENT_PASSWORD_TO_MODIFY);
    office->pClass->registerCallback(office, on_event, NULL);
    answer(shut == 0 ? "{\"ready\":true}\n" : "{\"ready\":true,\"filesOpen\":true}\n");

    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        convert(line);
    // Without the orderly end, which runs for long and may hang.
    _exit(0);
}
