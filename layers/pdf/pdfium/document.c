// Declares memmem.
#define _GNU_SOURCE

#include "document.h"

#include <fcntl.h>
#include <stdbool.h>
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

static char *bytes;
// ID of the open document in requests. The file cannot identify it, because inode numbers are reused.
static char *open_id;
static FPDF_DOCUMENT document;
static FPDF_FORMHANDLE form;
static FPDF_FORMFILLINFO form_info;
static FPDF_PAGE loaded;
static int loaded_page;
static bool use_crop_box;
// Remaining attempts to parse the document again when a page has no objects. 0 if PDFium is known to have found all
// of them.
static int recoveries;
enum { MAX_RECOVERIES = 4 };
// Whether the file is truncated, so that contents of pages may be missing.
static bool is_cut_off;
static size_t byte_count;
static char *password;

static void unload_page(void)
{
    if (!loaded)
        return;
    if (form)
        FORM_OnBeforeClosePage(loaded, form);
    FPDF_ClosePage(loaded);
    loaded = NULL;
}

static void close_document(void)
{
    unload_page();
    if (form)
        FPDFDOC_ExitFormFillEnvironment(form);
    if (document)
        FPDF_CloseDocument(document);
    free(bytes);
    free(open_id);
    free(password);
    form = NULL, document = NULL, bytes = NULL, open_id = NULL, password = NULL;
    byte_count = 0, recoveries = 0;
    trim_heap();
}

static size_t read_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    struct stat status;
    if (file >= 0 && !fstat(file, &status) && status.st_size >= 0 && (bytes = malloc((size_t)status.st_size + 1)))
        for (ssize_t got; (got = read(file, bytes + size, (size_t)status.st_size - size)) > 0;)
            size += (size_t)got;
    if (bytes)
        bytes[size] = 0;
    if (file >= 0)
        close(file);
    return size;
}

// Like other readers, accepts up to 1024 bytes of junk before the header.
static bool looks_like_pdf(size_t size)
{
    return memmem(bytes, size < 1030 ? size : 1030, "%PDF-", 5) != NULL;
}

// PDFium draws form fields only if a form environment exists.
static void open_form(void)
{
    if (!FPDF_GetFormType(document))
        return;
    memset(&form_info, 0, sizeof form_info);
    form_info.version = 2;
    form = FPDFDOC_InitFormFillEnvironment(document, &form_info);
}

// Returns whether the document has pages.
static bool load_document(void)
{
    document = FPDF_LoadMemDocument64(bytes, byte_count, password);
    return document && FPDF_GetPageCount(document) > 0;
}

static void unload_document(void)
{
    if (document)
        FPDF_CloseDocument(document);
    document = NULL;
}

// Loads the document again, without its cross-reference tables and, if that fails, with a generated trailer.
static bool repair_document(void)
{
    unload_document();
    hide_xref(bytes, byte_count);
    recoveries = 0;
    if (load_document())
        return true;
    unload_document();
    char trailer[TRAILER_SIZE];
    const size_t length = write_trailer(bytes, byte_count, trailer);
    char *longer = length ? realloc(bytes, byte_count + length + 1) : NULL;
    if (!longer)
        return false;
    bytes = longer;
    memcpy(bytes + byte_count, trailer, length + 1);
    byte_count += length;
    is_cut_off = true;
    return load_document();
}

const char *open_document(yyjson_val *arguments)
{
    const char *id = text_member(arguments, "document");
    if (document && id && open_id && !strcmp(id, open_id))
        return NULL;
    // An allocation failed earlier and PDFium continued, so its state is unreliable.
    if (memory_exhausted())
        exit_unusable();
    close_document();
    open_id = id ? strdup(id) : NULL;
    use_crop_box = flag_member(arguments, "cropBox");
    const size_t size = read_file(text_member(arguments, "source"));
    if ((id && !open_id) || memory_exhausted())
        fail_out_of_memory();
    if (!size || !looks_like_pdf(size)) {
        close_document();
        return "UNSUPPORTED_SOURCE";
    }
    const char *given = text_member(arguments, "password");
    password = given ? strdup(given) : NULL;
    byte_count = size;
    const enum xref_state xref = check_xref(bytes, size);
    recoveries = xref == UNKNOWN ? MAX_RECOVERIES : 0;
    is_cut_off = false;
    if (xref == BROKEN)
        hide_xref(bytes, size);
    const bool is_loaded = load_document();
    const bool locked = !document && FPDF_GetLastError() == FPDF_ERR_PASSWORD;
    if (memory_exhausted())
        fail_out_of_memory();
    if (is_loaded || (!locked && repair_document())) {
        open_form();
        return NULL;
    }
    if (memory_exhausted())
        fail_out_of_memory();
    close_document();
    return !locked ? "CORRUPT_SOURCE" : given ? "WRONG_PASSWORD" : "PASSWORD_REQUIRED";
}

FPDF_DOCUMENT opened_document(void)
{
    return document;
}

int page_count(void)
{
    return FPDF_GetPageCount(document);
}

bool document_is_cut_off(void)
{
    return is_cut_off;
}

FPDF_FORMHANDLE document_form(void)
{
    return form;
}

bool recover_contents(int page)
{
    if (recoveries == 0)
        return false;
    recoveries -= 1;
    hide_xref(bytes, byte_count);
    const FPDF_DOCUMENT other = FPDF_LoadMemDocument64(bytes, byte_count, password);
    const bool has_all_pages = other && FPDF_GetPageCount(other) == FPDF_GetPageCount(document);
    const FPDF_PAGE found = has_all_pages ? FPDF_LoadPage(other, page - 1) : NULL;
    const int objects = loaded && loaded_page == page ? FPDFPage_CountObjects(loaded) : 0;
    const bool is_better = found && FPDFPage_CountObjects(found) > objects;
    if (found)
        FPDF_ClosePage(found);
    if (is_better) {
        recoveries = 0;
        unload_page();
        if (form)
            FPDFDOC_ExitFormFillEnvironment(form);
        FPDF_CloseDocument(document);
        form = NULL, document = other;
        open_form();
    } else if (other) {
        FPDF_CloseDocument(other);
    }
    return is_better;
}

static FPDF_PAGE reload_page(int page)
{
    unload_page();
    loaded = FPDF_LoadPage(document, page - 1);
    if ((!loaded || FPDFPage_CountObjects(loaded) == 0) && recover_contents(page))
        return reload_page(page);
    if (loaded && !use_crop_box) {
        // The box takes effect when the page is reloaded.
        FPDFPage_SetCropBox(loaded, -EVERYTHING, -EVERYTHING, EVERYTHING, EVERYTHING);
        FPDF_ClosePage(loaded);
        loaded = FPDF_LoadPage(document, page - 1);
    }
    loaded_page = page;
    if (loaded && form)
        FORM_OnAfterLoadPage(loaded, form);
    return loaded;
}

FPDF_PAGE load_page(int page)
{
    if (page < 1)
        return NULL;
    if (loaded && loaded_page == page)
        return loaded;
    return reload_page(page);
}

// Hides annotations with the NoView flag, which flattening would draw.
static void hide_annotations_without_view(void)
{
    for (int index = FPDFPage_GetAnnotCount(loaded); index-- > 0;) {
        const FPDF_ANNOTATION annotation = FPDFPage_GetAnnot(loaded, index);
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
    if (!FPDFPage_GetMediaBox(loaded, &left, &bottom, &right, &top) && FPDF_GetPageBoundingBox(loaded, &box))
        FPDFPage_SetMediaBox(loaded, box.left, box.bottom, box.right, box.top);
}

FPDF_PAGE load_flat_page(int page)
{
    if (!load_page(page) || FPDFPage_GetAnnotCount(loaded) == 0)
        return loaded;
    hide_annotations_without_view();
    copy_inherited_media_box();
    // Reloading parses the flattened contents.
    return FPDFPage_Flatten(loaded, FLAT_NORMALDISPLAY) == FLATTEN_SUCCESS ? reload_page(page) : loaded;
}

struct size page_size(int page)
{
    struct size size = { 0, 0 };
    if (page < 1)
        return size;
    FS_SIZEF listed;
    bool is_listed = use_crop_box && FPDF_GetPageSizeByIndexF(document, page - 1, &listed);
    if (use_crop_box && !is_listed && recover_contents(page))
        is_listed = FPDF_GetPageSizeByIndexF(document, page - 1, &listed);
    if (is_listed)
        size = (struct size) { listed.width, listed.height };
    else if (!use_crop_box && load_page(page))
        size = (struct size) { FPDF_GetPageWidthF(loaded), FPDF_GetPageHeightF(loaded) };
    if (size.width > MAX_SIDE_POINTS || size.height > MAX_SIDE_POINTS || !(size.width > 0) || !(size.height > 0))
        size = (struct size) { 0, 0 };
    return size;
}
