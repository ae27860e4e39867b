#include "replacements.h"

#include <stdint.h>
#include <stdlib.h>

#include "message.h"

// Maximum depth of nested forms to examine, as in PDFium itself.
#define MAX_DEPTH 12

static const char *const KEY = "ActualText";

static void add(struct replacements *all, FPDF_PAGEOBJECT object, FPDF_PAGEOBJECTMARK mark)
{
    // Most objects have the same mark as the previous one.
    if (all->count && all->list[all->count - 1].mark == mark)
        return;
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 64;
        all->list = realloc(all->list, all->capacity * sizeof *all->list);
        if (!all->list)
            fail_out_of_memory();
    }
    all->list[all->count++] = (struct replacement) { mark, object, NULL, 0, false };
}

static void collect(struct replacements *all, FPDF_PAGEOBJECT object, int depth)
{
    const int kind = FPDFPageObj_GetType(object);
    if (kind == FPDF_PAGEOBJ_FORM && depth < MAX_DEPTH)
        for (int index = FPDFFormObj_CountObjects(object); index-- > 0;)
            collect(all, FPDFFormObj_GetObject(object, index), depth + 1);
    if (kind != FPDF_PAGEOBJ_TEXT)
        return;
    const int marks = FPDFPageObj_CountMarks(object);
    for (int index = 0; index < marks; index++) {
        const FPDF_PAGEOBJECTMARK mark = FPDFPageObj_GetMark(object, index);
        unsigned long size = 0;
        if (mark && FPDFPageObjMark_GetParamBlobValue(mark, KEY, NULL, 0, &size))
            add(all, object, mark);
    }
}

static int compare(const void *one, const void *other)
{
    const uintptr_t first = (uintptr_t)((const struct replacement *)one)->mark;
    const uintptr_t second = (uintptr_t)((const struct replacement *)other)->mark;
    return (first > second) - (first < second);
}

struct replacements take_replacements(FPDF_PAGE page)
{
    struct replacements all = { NULL, 0, 0 };
    for (int index = FPDFPage_CountObjects(page); index-- > 0;)
        collect(&all, FPDFPage_GetObject(page, index), 0);
    if (!all.count)
        return all;
    qsort(all.list, all.count, sizeof *all.list, compare);
    size_t unique = 1;
    for (size_t index = 1; index < all.count; index++)
        if (all.list[index].mark != all.list[unique - 1].mark)
            all.list[unique++] = all.list[index];
    all.count = unique;
    for (size_t index = 0; index < all.count; index++) {
        struct replacement *one = all.list + index;
        FPDFPageObjMark_GetParamBlobValue(one->mark, KEY, NULL, 0, &one->length);
        one->text = malloc(one->length + 1);
        if (!one->text)
            fail_out_of_memory();
        FPDFPageObjMark_GetParamBlobValue(one->mark, KEY, one->text, one->length, &one->length);
    }
    // Several marks may share a text, so all are read before the first is removed.
    for (size_t index = 0; index < all.count; index++)
        FPDFPageObjMark_RemoveParam(all.list[index].object, all.list[index].mark, KEY);
    return all;
}

struct replacement *replacement_of(const struct replacements *replacements, FPDF_PAGEOBJECT object)
{
    const int marks = replacements->count && object ? FPDFPageObj_CountMarks(object) : 0;
    for (int index = 0; index < marks; index++) {
        const struct replacement wanted = { .mark = FPDFPageObj_GetMark(object, index) };
        struct replacement *found = bsearch(&wanted, replacements->list, replacements->count, sizeof wanted, compare);
        if (found)
            return found;
    }
    return NULL;
}

void put_back_replacements(struct replacements *replacements, FPDF_DOCUMENT document)
{
    for (size_t index = 0; index < replacements->count; index++) {
        const struct replacement *one = replacements->list + index;
        FPDFPageObjMark_SetBlobParam(document, one->object, one->mark, KEY, one->text, one->length);
        free(one->text);
    }
    free(replacements->list);
}
