// Declares memmem.
#define _GNU_SOURCE

#include "document.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "xref.h"

// Maximum side in points, ten times the size that PDF 2.0 requires readers to support. A page with a larger box is
// treated as damaged.
#define MAX_SIDE_POINTS 144000
// Distance of a crop box's edges from the origin. They are outside of any page, so that nothing is cropped.
#define EVERYTHING 1e7f

// Attempts to parse a document again when a page has no objects.
#define MAX_RECOVERIES 4

// The open document and its loaded page. All members are 0 if none is open.
static struct {
    // ID in requests. The file cannot identify the document, because inode numbers are reused.
    char *id;
    char *bytes;
    size_t byte_count;
    char *password;
    FPDF_DOCUMENT handle;
    FPDF_FORMHANDLE form;
    FPDF_FORMFILLINFO form_info;
    bool use_crop_box;
    // Whether the file is truncated, so that contents of pages may be missing.
    bool is_cut_off;
    // Remaining attempts to parse the document again. 0 if PDFium is known to have found all objects.
    int recoveries;
    FPDF_PAGE page;
    int page_number;
} current;

static void unload_page(void)
{
    if (!current.page)
        return;
    if (current.form)
        FORM_OnBeforeClosePage(current.page, current.form);
    FPDF_ClosePage(current.page);
    current.page = NULL;
}

static void close_document(void)
{
    unload_page();
    if (current.form)
        FPDFDOC_ExitFormFillEnvironment(current.form);
    if (current.handle)
        FPDF_CloseDocument(current.handle);
    free(current.bytes);
    free(current.id);
    free(current.password);
    memset(&current, 0, sizeof current);
    trim_heap();
}

// Whether the file begins with an object, maybe after a line of comment.
static bool begins_with_object(size_t size)
{
    char head[128] = "", word[4] = "";
    memcpy(head, current.bytes, size < sizeof head ? size : sizeof head - 1);
    const char *start = head[0] == '%' ? strpbrk(head, "\r\n") : head;
    return start && sscanf(start, "%*u %*u %3s", word) == 1 && strcmp(word, "obj") == 0;
}

// Like other readers, accepts up to 1024 bytes of junk before the header.
static bool looks_like_pdf(size_t size)
{
    return memmem(current.bytes, size < 1030 ? size : 1030, "%PDF-", 5) != NULL;
}

// Returns the number of bytes. Adds the header to a PDF that lacks it, without which PDFium opens nothing.
static size_t read_file(const char *path)
{
    static const char header[] = "%PDF-1.7\n";
    const size_t added = sizeof header - 1;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    struct stat status;
    if (file >= 0 && !fstat(file, &status) && status.st_size >= 0
        && (current.bytes = malloc((size_t)status.st_size + added + 1)))
        for (ssize_t got; (got = read(file, current.bytes + size, (size_t)status.st_size - size)) > 0;)
            size += (size_t)got;
    if (file >= 0)
        close(file);
    if (!current.bytes)
        return 0;
    if (!looks_like_pdf(size) && begins_with_object(size)) {
        memmove(current.bytes + added, current.bytes, size);
        memcpy(current.bytes, header, added);
        size += added;
    }
    current.bytes[size] = 0;
    return size;
}

// PDFium draws form fields only if a form environment exists.
static void open_form(void)
{
    if (!FPDF_GetFormType(current.handle))
        return;
    memset(&current.form_info, 0, sizeof current.form_info);
    current.form_info.version = 2;
    current.form = FPDFDOC_InitFormFillEnvironment(current.handle, &current.form_info);
}

// Returns whether the document has pages.
static bool load_document(void)
{
    current.handle = FPDF_LoadMemDocument64(current.bytes, current.byte_count, current.password);
    return current.handle && FPDF_GetPageCount(current.handle) > 0;
}

static void unload_document(void)
{
    if (current.handle)
        FPDF_CloseDocument(current.handle);
    current.handle = NULL;
}

// Loads the document again, without its cross-reference tables and, if that fails, with a generated trailer.
static bool repair_document(void)
{
    unload_document();
    hide_xref(current.bytes, current.byte_count);
    current.recoveries = 0;
    if (load_document())
        return true;
    unload_document();
    char trailer[TRAILER_SIZE];
    const size_t length = write_trailer(current.bytes, current.byte_count, trailer);
    char *longer = length ? realloc(current.bytes, current.byte_count + length + 1) : NULL;
    if (!longer)
        return false;
    current.bytes = longer;
    memcpy(current.bytes + current.byte_count, trailer, length + 1);
    current.byte_count += length;
    current.is_cut_off = true;
    return load_document();
}

const char *const CERTIFICATE = "CERTIFICATE";

const char *open_document(yyjson_val *arguments)
{
    const char *id = text_member(arguments, "document");
    if (current.handle && id && current.id && !strcmp(id, current.id))
        return NULL;
    // An allocation failed earlier and PDFium continued, so its state is unreliable.
    if (memory_exhausted())
        exit_unusable();
    close_document();
    current.id = id ? strdup(id) : NULL;
    current.use_crop_box = flag_member(arguments, "cropBox");
    const size_t size = read_file(text_member(arguments, "source"));
    if ((id && !current.id) || memory_exhausted())
        fail_out_of_memory();
    if (!size || !looks_like_pdf(size)) {
        close_document();
        return "UNSUPPORTED_SOURCE";
    }
    const char *given = text_member(arguments, "password");
    current.password = given ? strdup(given) : NULL;
    current.byte_count = size;
    const enum xref_state xref = check_xref(current.bytes, size);
    current.recoveries = xref == XREF_UNKNOWN ? MAX_RECOVERIES : 0;
    if (xref == XREF_BROKEN)
        hide_xref(current.bytes, size);
    const bool is_loaded = load_document();
    const unsigned long failure = current.handle ? 0 : FPDF_GetLastError();
    const bool locked = failure == FPDF_ERR_PASSWORD;
    if (memory_exhausted())
        fail_out_of_memory();
    if (failure == FPDF_ERR_SECURITY) {
        close_document();
        return CERTIFICATE;
    }
    if (is_loaded || (!locked && repair_document())) {
        open_form();
        return NULL;
    }
    if (memory_exhausted())
        fail_out_of_memory();
    close_document();
    return !locked ? "CORRUPT_SOURCE" : given ? "WRONG_PASSWORD" : "PASSWORD_REQUIRED";
}

FPDF_DOCUMENT document_handle(void)
{
    return current.handle;
}

int document_page_count(void)
{
    return FPDF_GetPageCount(current.handle);
}

bool document_is_cut_off(void)
{
    return current.is_cut_off;
}

struct survey document_survey(void)
{
    // There are none if the document could not be opened.
    return current.bytes ? survey_document(current.bytes, current.byte_count) : (struct survey) { 0 };
}

FPDF_FORMHANDLE document_form(void)
{
    return current.form;
}

bool recover_contents(int page)
{
    if (current.recoveries == 0)
        return false;
    current.recoveries -= 1;
    hide_xref(current.bytes, current.byte_count);
    const FPDF_DOCUMENT other = FPDF_LoadMemDocument64(current.bytes, current.byte_count, current.password);
    const bool has_all_pages = other && FPDF_GetPageCount(other) == FPDF_GetPageCount(current.handle);
    const FPDF_PAGE found = has_all_pages ? FPDF_LoadPage(other, page - 1) : NULL;
    const int objects = current.page && current.page_number == page ? FPDFPage_CountObjects(current.page) : 0;
    const bool is_better = found && FPDFPage_CountObjects(found) > objects;
    if (found)
        FPDF_ClosePage(found);
    if (is_better) {
        current.recoveries = 0;
        unload_page();
        if (current.form)
            FPDFDOC_ExitFormFillEnvironment(current.form);
        FPDF_CloseDocument(current.handle);
        current.form = NULL, current.handle = other;
        open_form();
    } else if (other) {
        FPDF_CloseDocument(other);
    }
    return is_better;
}

static FPDF_PAGE reload_page(int page)
{
    unload_page();
    current.page = FPDF_LoadPage(current.handle, page - 1);
    if ((!current.page || FPDFPage_CountObjects(current.page) == 0) && recover_contents(page))
        return reload_page(page);
    if (current.page && !current.use_crop_box) {
        // The box takes effect when the page is reloaded.
        FPDFPage_SetCropBox(current.page, -EVERYTHING, -EVERYTHING, EVERYTHING, EVERYTHING);
        FPDF_ClosePage(current.page);
        current.page = FPDF_LoadPage(current.handle, page - 1);
    }
    current.page_number = page;
    if (current.page && current.form)
        FORM_OnAfterLoadPage(current.page, current.form);
    return current.page;
}

FPDF_PAGE load_page(int page)
{
    if (page < 1)
        return NULL;
    if (current.page && current.page_number == page)
        return current.page;
    return reload_page(page);
}

// Hides annotations with the NoView flag, which flattening would draw.
static void hide_annotations_without_view(void)
{
    for (int index = FPDFPage_GetAnnotCount(current.page); index-- > 0;) {
        const FPDF_ANNOTATION annotation = FPDFPage_GetAnnot(current.page, index);
        const int flags = annotation ? FPDFAnnot_GetFlags(annotation) : 0;
        if (flags & FPDF_ANNOT_FLAG_NOVIEW)
            FPDFAnnot_SetFlags(annotation, flags | FPDF_ANNOT_FLAG_HIDDEN);
        if (annotation)
            FPDFPage_CloseAnnot(annotation);
    }
}

// Copies an inherited media box to the page. Flattening ignores inherited boxes and would then leave out all
// annotations.
static void copy_inherited_media_box(void)
{
    float left, bottom, right, top;
    FS_RECTF box;
    if (!FPDFPage_GetMediaBox(current.page, &left, &bottom, &right, &top) && FPDF_GetPageBoundingBox(current.page, &box))
        FPDFPage_SetMediaBox(current.page, box.left, box.bottom, box.right, box.top);
}

FPDF_PAGE load_flat_page(int page)
{
    if (!load_page(page) || FPDFPage_GetAnnotCount(current.page) == 0)
        return current.page;
    hide_annotations_without_view();
    copy_inherited_media_box();
    // Reloading parses the flattened contents.
    return FPDFPage_Flatten(current.page, FLAT_NORMALDISPLAY) == FLATTEN_SUCCESS ? reload_page(page) : current.page;
}

struct size page_size(int page)
{
    struct size size = { 0, 0 };
    if (page < 1)
        return size;
    FS_SIZEF listed;
    bool is_listed = current.use_crop_box && FPDF_GetPageSizeByIndexF(current.handle, page - 1, &listed);
    if (current.use_crop_box && !is_listed && recover_contents(page))
        is_listed = FPDF_GetPageSizeByIndexF(current.handle, page - 1, &listed);
    if (is_listed)
        size = (struct size) { listed.width, listed.height };
    else if (!current.use_crop_box && load_page(page))
        size = (struct size) { FPDF_GetPageWidthF(current.page), FPDF_GetPageHeightF(current.page) };
    if (size.width > MAX_SIDE_POINTS || size.height > MAX_SIDE_POINTS || !(size.width > 0) || !(size.height > 0))
        size = (struct size) { 0, 0 };
    return size;
}
