// Declares memmem.
#define _GNU_SOURCE

#include "xref.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Maximum number of tables. Each update of a file adds one.
#define MAX_TABLES 1000
// Maximum bytes of a trailer to search for the offset of the previous table.
#define TRAILER 4096
// Size of the end of a file that readers search for the offset of its last table.
#define TAIL 1100
// Maximum bytes of an object's start, including the white space before it.
#define OBJECT_HEAD 64
// Maximum bytes between the start of the catalog and its type.
#define CATALOG_HEAD 4096
// Maximum number of catalogs. Each update of a file adds one.
#define MAX_CATALOGS 1000

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f' || !byte;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

// Reads a number and moves past it. Returns -1 if there is none.
static long long read_number(const char **at, const char *end)
{
    const char *digit = skip_space(*at, end);
    long long number = *digit >= '0' && *digit <= '9' ? 0 : -1;
    for (; digit < end && *digit >= '0' && *digit <= '9' && number < 1e12; digit++)
        number = number * 10 + (*digit - '0');
    *at = digit;
    return number;
}

static bool is_object(const char *at, const char *end, long long number)
{
    // Every entry could point to the same long run of spaces.
    if (end - at > OBJECT_HEAD)
        end = at + OBJECT_HEAD;
    if (read_number(&at, end) != number || read_number(&at, end) < 0)
        return false;
    at = skip_space(at, end);
    return end - at > 3 && !memcmp(at, "obj", 3);
}

// Checks the entries from `*at`, which is then moved to the trailer.
static enum xref_state check_entries(const char **at, const char *start, const char *end)
{
    enum xref_state state = XREF_SOUND;
    for (;;) {
        *at = skip_space(*at, end);
        if (end - *at > 7 && !memcmp(*at, "trailer", 7))
            return state;
        const long long first = read_number(at, end), count = read_number(at, end);
        if (first < 0 || count < 0)
            return XREF_UNKNOWN;
        for (long long index = 0; index < count; index++) {
            const long long offset = read_number(at, end), generation = read_number(at, end);
            *at = skip_space(*at, end);
            const char kind = *at < end ? *(*at)++ : 0;
            if (offset < 0 || generation < 0 || (kind != 'n' && kind != 'f'))
                return XREF_UNKNOWN;
            if (kind == 'n' && (offset >= end - start || !is_object(start + offset, end, first + index)))
                return XREF_BROKEN;
            // The object may still exist.
            if (kind == 'f' && first + index > 0)
                state = XREF_UNKNOWN;
        }
    }
}

enum xref_state check_xref(const char *bytes, size_t size)
{
    const char *end = bytes + size, *last = NULL;
    // Offsets are relative to the header.
    const char *start = memmem(bytes, size, "%PDF-", 5);
    const char *tail = end - (size < TAIL ? size : TAIL);
    for (const char *at = tail; start && (at = memmem(at, (size_t)(end - at), "startxref", 9)); at += 9)
        last = at + 9;
    long long offset = last ? read_number(&last, end) : -1, checked = 0;
    enum xref_state all = XREF_SOUND;
    for (int tables = 0; tables < MAX_TABLES; tables++) {
        // Tables that take more bytes than the file refer to each other in a cycle.
        if (offset < 0 || offset >= end - start || checked > end - start)
            return XREF_UNKNOWN;
        const char *at = skip_space(start + offset, end);
        if (end - at < 4 || memcmp(at, "xref", 4))
            return XREF_UNKNOWN;
        at += 4;
        const enum xref_state state = check_entries(&at, start, end);
        if (state == XREF_BROKEN)
            return state;
        if (state == XREF_UNKNOWN)
            all = XREF_UNKNOWN;
        checked += at - (start + offset);
        const size_t rest = (size_t)(end - at);
        const char *stop = memmem(at, rest < TRAILER ? rest : TRAILER, "startxref", 9);
        const char *previous = stop ? memmem(at, (size_t)(stop - at), "/Prev", 5) : NULL;
        if (!previous)
            return all;
        previous += 5;
        offset = read_number(&previous, end);
    }
    return XREF_UNKNOWN;
}

void hide_xref(char *bytes, size_t size)
{
    for (char *at = bytes, *end = bytes + size; (at = memmem(at, (size_t)(end - at), "startxref", 9)); at += 9)
        memset(at, ' ', 9);
}

// Moves back over digits and then over white space. Returns false if there are no digits.
static bool back_over_number(const char **at, const char *start)
{
    const char *digit = *at;
    while (digit > start && digit[-1] >= '0' && digit[-1] <= '9')
        digit--;
    if (digit == *at)
        return false;
    while (digit > start && is_space(digit[-1]))
        digit--;
    *at = digit;
    return true;
}

// Returns the start of the object that contains `at`, which is its number, or NULL.
static const char *object_around(const char *start, const char *at)
{
    const char *from = at - start > CATALOG_HEAD ? at - CATALOG_HEAD : start;
    for (const char *word = at - 3; word > from; word--) {
        if (memcmp(word, "obj", 3) || word[-1] == 'd')
            continue;
        while (word > from && is_space(word[-1]))
            word--;
        if (!back_over_number(&word, from) || !back_over_number(&word, from))
            return NULL;
        return skip_space(word, at);
    }
    return NULL;
}

size_t write_trailer(const char *bytes, size_t size, char trailer[TRAILER_SIZE])
{
    const char *end = bytes + size, *catalog = NULL;
    int catalogs = 0;
    for (const char *at = bytes; catalogs < MAX_CATALOGS && (at = memmem(at, (size_t)(end - at), "/Catalog", 8)); at += 8) {
        const char *object = object_around(bytes, at);
        catalog = object ? object : catalog;
        catalogs++;
    }
    if (!catalog)
        return 0;
    const long long number = read_number(&catalog, end), generation = read_number(&catalog, end);
    if (number < 1 || generation < 0)
        return 0;
    return (size_t)snprintf(trailer, TRAILER_SIZE, "\ntrailer\n<</Root %lld %lld R>>\n", number, generation);
}
