// Rewrites PDF files with libqpdf; see layers/build/protocol/message.h for the protocol:
//
//   qpdf <private directory> <readable directory>...
//
// edit   "source", "password", "job", "update", "information", "streams", "list" → {"pageCount":number,"isPlain":boolean}:
//        `job` is qpdf's own job JSON (see `qpdf --job-json-help`). `update`, a JSON of changed objects, and
//        `information`, entries of the document information dictionary, change its result. With `streams`, a JSON of
//        lists of references, the job writes only the objects in the list with index `list`. All but the job are
//        optional.
// Declares memmem.
#define _GNU_SOURCE

#include <malloc.h>
#include <qpdf/qpdfjob-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "sandbox.h"

// Sets the entries that the request names, and keeps all others. Null removes all.
static void set_information(qpdf_data pdf, yyjson_val *given)
{
    const qpdf_oh trailer = qpdf_get_trailer(pdf);
    if (yyjson_is_null(given))
        qpdf_oh_remove_key(pdf, trailer, "/Info");
    if (yyjson_obj_size(given) == 0)
        return;
    qpdf_oh information = qpdf_oh_get_key(pdf, trailer, "/Info");
    if (!qpdf_oh_is_dictionary(pdf, information)) {
        information = qpdf_make_indirect_object(pdf, qpdf_oh_new_dictionary(pdf));
        qpdf_oh_replace_key(pdf, trailer, "/Info", information);
    }
    size_t index, count;
    yyjson_val *name, *value;
    yyjson_obj_foreach(given, index, count, name, value) {
        char key[32];
        if (!yyjson_is_str(value) || (size_t)snprintf(key, sizeof key, "/%s", yyjson_get_str(name)) >= sizeof key)
            continue;
        qpdf_oh_replace_key(pdf, information, key, qpdf_oh_new_unicode_string(pdf, yyjson_get_str(value)));
    }
}

// qpdf writes the size of the cross-reference table only if the trailer has an entry for it. One that was rebuilt from a
// damaged file may have none, and the result could not be opened.
static void complete_trailer(qpdf_data pdf)
{
    const qpdf_oh trailer = qpdf_get_trailer(pdf);
    if (!qpdf_oh_has_key(pdf, trailer, "/Size"))
        qpdf_oh_replace_key(pdf, trailer, "/Size", qpdf_oh_new_integer(pdf, 0));
}

// Reopens the source to find out why a job failed to write the target, because jobs report no error codes.
static void send_reason(yyjson_val *arguments, const char *target)
{
    const char *source = text_member(arguments, "source"), *password = text_member(arguments, "password");
    qpdf_data pdf = qpdf_init();
    qpdf_silence_errors(pdf);
    qpdf_set_suppress_warnings(pdf, QPDF_TRUE);
    qpdf_read(pdf, source ? source : "", password);
    const bool damaged = qpdf_has_error(pdf);
    const bool locked = damaged && qpdf_get_error_code(pdf, qpdf_get_error(pdf)) == qpdf_e_password;
    const bool full = !damaged && target && disk_is_full(target);
    send_code(full ? "ENOSPC" : !locked ? "CORRUPT_SOURCE" : password ? "WRONG_PASSWORD" : "PASSWORD_REQUIRED");
    qpdf_cleanup(&pdf);
}

// Reads the objects that will change. qpdf (12.2) forgets a change when it reads the object stream with the original later.
static bool read_originals(qpdf_data pdf, const char *update)
{
    yyjson_doc *changes = yyjson_read_file(update, 0, NULL, NULL);
    yyjson_val *objects = yyjson_arr_get(yyjson_obj_get(yyjson_doc_get_root(changes), "qpdf"), 1);
    size_t index, count;
    yyjson_val *name, *value;
    yyjson_obj_foreach(objects, index, count, name, value) {
        int id, generation;
        if (sscanf(yyjson_get_str(name), "obj:%d %d R", &id, &generation) != 2)
            continue;
        const qpdf_oh object = qpdf_get_object_by_id(pdf, id, generation);
        qpdf_oh_get_type_code(pdf, object);
        qpdf_oh_release(pdf, object);
    }
    yyjson_doc_free(changes);
    return objects != NULL;
}

// Changes objects, which may be those of the tree of pages. Returns false on failure.
static bool update_objects(qpdf_data pdf, const char *update)
{
    return read_originals(pdf, update) && !(qpdf_update_from_json_file(pdf, update) & QPDF_ERRORS) &&
           !(qpdf_update_all_pages_cache(pdf) & QPDF_ERRORS);
}

// Whether a document has metadata that may claim that it follows a standard.
static bool has_claims(qpdf_data pdf, qpdf_oh metadata)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (qpdf_oh_get_stream_data(pdf, metadata, qpdf_dl_generalized, NULL, &bytes, &size) & QPDF_ERRORS)
        return true;
    const bool found = memmem(bytes, size, "aid:part", 8) != NULL;
    qpdf_oh_free_buffer(&bytes);
    return found;
}

// Whether a document consists of pages and nothing that refers to them, is not encrypted, and claims nothing.
static bool is_plain(qpdf_data pdf, int pages)
{
    static const char *const known[] = { "/Type", "/Pages", "/Metadata", "/Version", "/Lang", "/PageLayout",
                                         "/PageMode", "/ViewerPreferences", NULL };
    const qpdf_oh catalog = qpdf_get_root(pdf);
    bool plain = !qpdf_is_encrypted(pdf);
    qpdf_oh_begin_dict_key_iter(pdf, catalog);
    while (qpdf_oh_dict_more_keys(pdf))
        plain = index_of(qpdf_oh_dict_next_key(pdf), known) >= 0 && plain;
    for (int index = 0; plain && index < pages; index++) {
        const qpdf_oh page = qpdf_get_page_n(pdf, (size_t)index);
        plain = !qpdf_oh_has_key(pdf, page, "/Annots") && !qpdf_oh_has_key(pdf, page, "/StructParents");
        qpdf_oh_release(pdf, page);
    }
    return plain && (!qpdf_oh_has_key(pdf, catalog, "/Metadata") ||
                     !has_claims(pdf, qpdf_oh_get_key(pdf, catalog, "/Metadata")));
}

// Returns the job as text, with the objects that it writes if they are in a file, because there may be many.
static char *job_text(yyjson_val *arguments)
{
    yyjson_val *job = yyjson_obj_get(arguments, "job");
    const char *streams = text_member(arguments, "streams");
    if (!streams)
        return yyjson_val_write(job, 0, NULL);
    yyjson_doc *lists = yyjson_read_file(streams, 0, NULL, NULL);
    yyjson_val *list = yyjson_arr_get(yyjson_doc_get_root(lists), (size_t)integer_member(arguments, "list", 0));
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *copy = yyjson_val_mut_copy(document, job), *objects = yyjson_mut_arr(document);
    // An object that does not exist, because an empty list would mean all.
    bool is_complete = list && yyjson_mut_arr_add_str(document, objects, "0,0");
    size_t index, count;
    yyjson_val *value;
    yyjson_arr_foreach(list, index, count, value) {
        const char *ref = yyjson_is_str(value) ? yyjson_get_str(value) : text_member(value, "ref");
        int id, generation;
        char name[32];
        if (!ref || sscanf(ref, "%d %d R", &id, &generation) != 2)
            continue;
        snprintf(name, sizeof name, "%d,%d", id, generation);
        is_complete = is_complete && yyjson_mut_arr_add_strcpy(document, objects, name);
    }
    is_complete = is_complete && yyjson_mut_obj_add_val(document, copy, "jsonObject", objects);
    char *text = is_complete ? yyjson_mut_val_write(copy, 0, NULL) : NULL;
    yyjson_mut_doc_free(document);
    yyjson_doc_free(lists);
    return text;
}

static void edit(const struct request *request)
{
    const char *update = text_member(request->arguments, "update");
    char *text = job_text(request->arguments);
    if (!text)
        fail_out_of_memory();
    qpdfjob_handle job = qpdfjob_init();
    qpdf_data pdf = qpdfjob_initialize_from_json(job, text) == qpdf_exit_success ? qpdfjob_create_qpdf(job) : NULL;
    int pages = -1;
    bool plain = false;
    if (pdf)
        qpdf_silence_errors(pdf);
    if (pdf && (!update || update_objects(pdf, update))) {
        set_information(pdf, yyjson_obj_get(request->arguments, "information"));
        complete_trailer(pdf);
        pages = qpdf_get_num_pages(pdf);
        plain = is_plain(pdf, pages);
        const int status = qpdfjob_write_qpdf(job, pdf);
        // Warnings report damage that was repaired.
        if (status != qpdf_exit_success && status != qpdf_exit_warning)
            pages = -1;
    }
    if (pdf)
        qpdf_cleanup(&pdf);
    qpdfjob_cleanup(&job);
    free(text);
    if (pages >= 0) {
        FILE *answer = begin_answer("result");
        fprintf(answer, "{\"pageCount\":%d,\"isPlain\":%s}", pages, plain ? "true" : "false");
        finish_answer(answer);
    } else {
        send_reason(request->arguments, text_member(yyjson_obj_get(request->arguments, "job"), "outputFile"));
    }
    if (mallinfo2().fordblks > 16UL << 20)
        malloc_trim(0);
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    enter_engine_sandbox(arguments + 1);
    serve_requests(edit);
    _exit(0);
}
