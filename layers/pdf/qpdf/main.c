// Rewrites PDF files with libqpdf, one request per line:
//
//   qpdf <private directory> <directory of conversions> <readable directory>...
//
// stdin   {"source":path,"password":text,"job":text,"Title":text,"Author":text,...}: `job` is qpdf's own job JSON (see
//         `qpdf --job-json-help`); the password and the entries of the document information dictionary are optional
// fd 3    {"ready":true} once, then {"result":{"pageCount":number}} or {"error":{"code":...,"message":...}} for each line
#include <malloc.h>
#include <qpdf/qpdfjob-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "sandbox.h"

static const char *const INFORMATION[] = { "Title", "Author", "Subject", "Keywords", "Creator", "Producer" };

// Sets the entries that the request names and keeps all others.
static void set_information(qpdf_data pdf, const char *request)
{
    const qpdf_oh trailer = qpdf_get_trailer(pdf);
    qpdf_oh information = 0;
    for (size_t index = 0; index < sizeof INFORMATION / sizeof *INFORMATION; index++) {
        char *text = text_member(request, INFORMATION[index]);
        if (!text)
            continue;
        if (!information) {
            information = qpdf_oh_get_key(pdf, trailer, "/Info");
            if (!qpdf_oh_is_dictionary(pdf, information)) {
                information = qpdf_make_indirect_object(pdf, qpdf_oh_new_dictionary(pdf));
                qpdf_oh_replace_key(pdf, trailer, "/Info", information);
            }
        }
        char key[32];
        snprintf(key, sizeof key, "/%s", INFORMATION[index]);
        qpdf_oh_replace_key(pdf, information, key, qpdf_oh_new_unicode_string(pdf, text));
        free(text);
    }
}

// Opens the source again to find out why a job failed, because jobs report no error codes.
static void send_reason(const char *source, const char *password)
{
    qpdf_data pdf = qpdf_init();
    qpdf_silence_errors(pdf);
    qpdf_set_suppress_warnings(pdf, QPDF_TRUE);
    qpdf_read(pdf, source, password);
    const int locked = qpdf_has_error(pdf) && qpdf_get_error_code(pdf, qpdf_get_error(pdf)) == qpdf_e_password;
    if (locked && password)
        send_error("WRONG_PASSWORD", "The password does not open the PDF.");
    else if (locked)
        send_error("PASSWORD_REQUIRED", "The PDF is encrypted. Its password is needed.");
    else
        send_error("CORRUPT_SOURCE", "The PDF is damaged and could not be rewritten.");
    qpdf_cleanup(&pdf);
}

static void rewrite(const char *request)
{
    char *source = text_member(request, "source");
    char *password = text_member(request, "password");
    char *text = text_member(request, "job");
    qpdfjob_handle job = qpdfjob_init();
    qpdf_data pdf = qpdfjob_initialize_from_json(job, text) == qpdf_exit_success ? qpdfjob_create_qpdf(job) : NULL;
    int pages = -1;
    if (pdf) {
        qpdf_silence_errors(pdf);
        set_information(pdf, request);
        pages = qpdf_get_num_pages(pdf);
        const int status = qpdfjob_write_qpdf(job, pdf);
        // Warnings are about repaired damage.
        if (status != qpdf_exit_success && status != qpdf_exit_warning)
            pages = -1;
        qpdf_cleanup(&pdf);
    }
    qpdfjob_cleanup(&job);
    if (pages >= 0) {
        char line[64];
        snprintf(line, sizeof line, "{\"result\":{\"pageCount\":%d}}\n", pages);
        send_line(line);
    } else {
        send_reason(source, password);
    }
    free(source), free(password), free(text);
    malloc_trim(0);
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    const char *private[] = { arguments[1], NULL };
    const char *conversions[] = { arguments[2], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 3, private, conversions };
    if (enter_sandbox(&sandbox) < 0)
        return 3;
    send_line("{\"ready\":true}\n");

    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        rewrite(line);
    _exit(0);
}
