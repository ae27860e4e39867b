// memmem
#define _GNU_SOURCE

#include "table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Maximum number of tables, of which each update of a file adds one.
#define MAX_TABLES 1000
// Maximum bytes of a trailer in which the place of the previous table is searched.
#define TRAILER 4096
// Bytes at the end of a file in which readers search the place of its last table.
#define TAIL 1100

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

// Reads a number and moves behind it. Returns -1 if there is none.
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
    if (read_number(&at, end) != number || read_number(&at, end) < 0)
        return false;
    at = skip_space(at, end);
    return end - at > 3 && !memcmp(at, "obj", 3);
}

// Checks the entries from `*at`, which is moved to the trailer.
static enum table check_entries(const char **at, const char *start, const char *end)
{
    for (;;) {
        *at = skip_space(*at, end);
        if (end - *at > 7 && !memcmp(*at, "trailer", 7))
            return SOUND;
        const long long first = read_number(at, end), count = read_number(at, end);
        if (first < 0 || count < 0)
            return UNKNOWN;
        for (long long index = 0; index < count; index++) {
            const long long offset = read_number(at, end), generation = read_number(at, end);
            *at = skip_space(*at, end);
            const char kind = *at < end ? *(*at)++ : 0;
            if (offset < 0 || generation < 0 || (kind != 'n' && kind != 'f'))
                return UNKNOWN;
            if (kind == 'n' && (offset >= end - start || !is_object(start + offset, end, first + index)))
                return BROKEN;
        }
    }
}

enum table check_table(const char *bytes, size_t size)
{
    const char *end = bytes + size, *last = NULL;
    // Offsets count from the header.
    const char *start = memmem(bytes, size, "%PDF-", 5);
    for (const char *at = end - (size < TAIL ? size : TAIL); start && (at = memmem(at, (size_t)(end - at), "startxref", 9)); at += 9)
        last = at + 9;
    long long offset = last ? read_number(&last, end) : -1;
    for (int tables = 0; tables < MAX_TABLES; tables++) {
        if (offset < 0 || offset >= end - start)
            return UNKNOWN;
        const char *at = skip_space(start + offset, end);
        if (end - at < 4 || memcmp(at, "xref", 4))
            return UNKNOWN;
        at += 4;
        const enum table table = check_entries(&at, start, end);
        if (table != SOUND)
            return table;
        const char *stop = memmem(at, (size_t)(end - at), "startxref", 9);
        const size_t length = stop && stop - at < TRAILER ? (size_t)(stop - at) : 0;
        const char *previous = memmem(at, length, "/Prev", 5);
        if (!previous)
            return SOUND;
        previous += 5;
        offset = read_number(&previous, end);
    }
    return UNKNOWN;
}

void hide_tables(char *bytes, size_t size)
{
    for (char *at = bytes, *end = bytes + size; (at = memmem(at, (size_t)(end - at), "startxref", 9)); at += 9)
        memset(at, ' ', 9);
}
