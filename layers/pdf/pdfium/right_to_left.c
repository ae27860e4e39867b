// Reverses the bidirectional algorithm (Unicode Standard Annex 9) from the places of the glyphs. Lines of a PDF are often in the
// order in which they are seen, and PDFium puts words back in order, but not numbers, punctuation and Latin phrases between them.
#include "right_to_left.h"

#include <ctype.h>
#include <stdlib.h>

// Minimum width of a space, relative to the height of the line.
#define GAP 0.15f
#define ROUNDING 0.03f

static bool is_arabic(unsigned code)
{
    return (code >= 0x600 && code < 0x900 && !(code >= 0x660 && code <= 0x66a) && !(code >= 0x6f0 && code <= 0x6f9)
            && code != 0x60c)
           || (code >= 0xfb50 && code < 0xfe00) || (code >= 0xfe70 && code < 0xfeff);
}

static bool is_right_to_left(unsigned code)
{
    return (code >= 0x590 && code < 0x600) || (code >= 0xfb1d && code < 0xfb50) || is_arabic(code);
}

static bool is_digit(unsigned code)
{
    return (code >= '0' && code <= '9') || (code >= 0x660 && code <= 0x669) || (code >= 0x6f0 && code <= 0x6f9);
}

static bool is_letter(unsigned code)
{
    if (code < 0x80)
        return isalpha((int)code) != 0;
    return code >= 0xc0 && code != 0xd7 && code != 0xf7 && !(code >= 0x2000 && code < 0x2c00)
           && !(code >= 0x3000 && code < 0x3005) && !(code >= 0x590 && code < 0x900) && !is_right_to_left(code);
}

bool is_strong(unsigned code)
{
    return is_right_to_left(code) || is_letter(code) || is_digit(code);
}

static bool is_mark(unsigned code)
{
    return (code >= 0x591 && code < 0x5be) || code == 0x5bf || (code >= 0x5c1 && code < 0x5c6 && code != 0x5c3) || code == 0x5c7
           || (code >= 0x610 && code < 0x61b) || (code >= 0x64b && code < 0x660) || code == 0x670;
}

static bool is_separator(unsigned code)
{
    return code == '.' || code == ',' || code == ':' || code == '/' || code == '-' || code == '+' || code == 0xa0;
}

static bool is_unit(unsigned code)
{
    return code == '%' || code == '$' || code == '#' || (code >= 0xa2 && code <= 0xa5) || code == 0xb0
           || (code >= 0x20a0 && code < 0x20d0) || code == 0x2030;
}

static const unsigned short PAIRS[][2] = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' }, { 0xab, 0xbb } };

// Returns the index of a pair of brackets and which of them a character is, or -1.
static int pair_of(unsigned code, int *side)
{
    for (size_t index = 0; index < sizeof PAIRS / sizeof *PAIRS; index++)
        for (*side = 0; *side < 2; ++*side)
            if (code == PAIRS[index][*side])
                return (int)index;
    return -1;
}

// Makes brackets open before they close. Some programs write the brackets that are seen, others those that were meant, or both.
static void pair_brackets(struct placed *first, struct placed *end)
{
    for (int pair = 0; pair < (int)(sizeof PAIRS / sizeof *PAIRS); pair++) {
        int side, depth = 0, mirrored_depth = 0, count = 0;
        bool valid = true, mirrored_valid = true;
        for (struct placed *at = first; at < end; at++) {
            if (pair_of(at->code, &side) != pair)
                continue;
            depth += side ? -1 : 1, mirrored_depth += side ? 1 : -1, count++;
            valid &= depth >= 0, mirrored_valid &= mirrored_depth >= 0;
        }
        if (valid && depth == 0)
            continue;
        const bool alternates = count % 2 == 0 && !(mirrored_valid && mirrored_depth == 0);
        count = 0;
        for (struct placed *at = first; at < end; at++)
            if (pair_of(at->code, &side) == pair)
                at->code = PAIRS[pair][alternates ? count++ % 2 : !side];
    }
}

static void reverse(struct placed *first, struct placed *end)
{
    while (first < end && first < --end) {
        const struct placed other = *first;
        *first++ = *end;
        *end = other;
    }
}

bool needs_order(const struct placed *line, size_t count)
{
    bool found = false;
    for (size_t index = 0; index < count; index++) {
        if (is_mark(line[index].code))
            return false;
        found |= is_right_to_left(line[index].code);
    }
    return found;
}

static int by_place(const void *one, const void *other)
{
    const struct placed *left = one, *right = other;
    if (left->left != right->left)
        return left->left < right->left ? -1 : 1;
    // A space may have no width. Others in one place are a ligature.
    if ((left->code == ' ') != (right->code == ' '))
        return left->code == ' ' ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

// Returns whether there is a gap before a character, and no space.
static bool follows_gap(const struct placed *character, float gap)
{
    return character->code != ' ' && character[-1].code != ' ' && character->left - character[-1].right > gap;
}

static float height_of(const struct placed *line, size_t count)
{
    float height = 0;
    for (size_t index = 0; index < count; index++)
        if (line[index].top - line[index].bottom > height)
            height = line[index].top - line[index].bottom;
    return height;
}

// Puts a space into each gap between words, and returns the new number of characters.
static size_t fill_gaps(struct placed *line, size_t count, float gap)
{
    size_t spaces = 0;
    for (size_t index = 1; index < count; index++)
        spaces += follows_gap(line + index, gap);
    for (size_t from = count, to = count + spaces; from-- > 0;) {
        const bool follows = from > 0 && follows_gap(line + from, gap);
        line[--to] = line[from];
        if (follows)
            line[--to] = (struct placed){ .code = ' ', .left = line[from - 1].right, .right = line[from].left };
    }
    return count + spaces;
}

// Orders a number again, after its line was reversed, and returns its end. Separators belong to it between digits, and units
// beside them. In Arabic text, units do not.
static struct placed *order_number(struct placed *first, struct placed *end, bool arabic)
{
    struct placed *stop = first;
    for (struct placed *at = first; at < end; at++) {
        if (is_digit(at->code) || (!arabic && is_unit(at->code)))
            stop = at + 1;
        else if (!is_separator(at->code) || at >= stop + 1)
            break;
    }
    reverse(first, stop);
    return stop;
}

// Orders characters that are read from right to left and were seen from left to right.
static void order_right_to_left(struct placed *first, struct placed *end)
{
    reverse(first, end);
    bool arabic = false;
    for (struct placed *at = first; at < end; at++) {
        arabic |= is_arabic(at->code);
        // The characters of a ligature were in order.
        struct placed *stop = at + 1;
        while (stop < end && stop->left == at->left && is_right_to_left(stop->code) && is_right_to_left(at->code))
            stop++;
        reverse(at, stop);
    }
    for (struct placed *at = first; at < end;) {
        if (is_right_to_left(at->code)) {
            at++;
            continue;
        }
        struct placed *next = at, *start = NULL, *stop = NULL;
        bool has_letter = false;
        for (; next < end && !is_right_to_left(next->code); next++) {
            has_letter |= is_letter(next->code);
            if (!is_letter(next->code) && !is_digit(next->code))
                continue;
            if (!start)
                start = next;
            stop = next + 1;
        }
        if (has_letter) {
            reverse(start, stop);
        } else {
            for (struct placed *each = at; each < next;) {
                const bool starts = is_digit(each->code) || (!arabic && is_unit(each->code));
                each = starts ? order_number(each, next, arabic) : each + 1;
            }
        }
        at = next;
    }
}

// Whether most words are read from right to left. Of equally many, the one that is seen first decides.
static bool is_right_to_left_line(const struct placed *line, size_t count)
{
    int balance = 0, first = 0, word = 0;
    for (size_t index = 0; index <= count; index++) {
        const unsigned code = index < count ? line[index].code : ' ';
        if (code == ' ') {
            balance += word;
            word = 0;
        } else if (word == 0) {
            word = is_right_to_left(code) ? 1 : is_letter(code) ? -1 : 0;
            first = first ? first : word;
        }
    }
    return balance > 0 || (balance == 0 && first > 0);
}

size_t order_line(struct placed *line, size_t count)
{
    enum { LAM = 0x644, ALEF = 0x627, ALEF_MADDA = 0x622, ALEF_HAMZA = 0x623, ALEF_HAMZA_BELOW = 0x625 };
    const float height = height_of(line, count), rounding = ROUNDING * height;
    for (size_t index = 0; index < count; index++) {
        line[index].index = index;
        // A space without width is at the left edge of the letter before it, but its place is rounded.
        if (line[index].code == ' ' && line[index].right - line[index].left < rounding)
            line[index].left -= rounding;
    }
    qsort(line, count, sizeof *line, by_place);
    count = fill_gaps(line, count, GAP * height);
    struct placed *const end = line + count;
    if (is_right_to_left_line(line, count)) {
        order_right_to_left(line, end);
        pair_brackets(line, end);
    } else {
        for (struct placed *at = line; at < end;) {
            struct placed *stop = at;
            for (struct placed *next = at; is_right_to_left(at->code) && next < end && !is_letter(next->code); next++)
                if (is_right_to_left(next->code))
                    stop = next + 1;
            order_right_to_left(at, stop);
            at = stop > at ? stop : at + 1;
        }
    }
    // The ligature of lam and alef is one glyph, whose characters some programs write in reverse.
    for (struct placed *at = line; at + 1 < end; at++) {
        const bool is_alef = at->code == ALEF || at->code == ALEF_MADDA || at->code == ALEF_HAMZA || at->code == ALEF_HAMZA_BELOW;
        if (is_alef && at[1].code == LAM && at->left == at[1].left)
            reverse(at, at + 2);
    }
    return count;
}
