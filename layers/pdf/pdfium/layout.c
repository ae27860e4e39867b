#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

// Characters without a gap between them.
struct segment {
    size_t first, count;
    float left, right, top, bottom;
    size_t line, column;
};

// Gap that separates columns, and distance of two lines that has an empty one between them, in heights of a character.
static const float COLUMN_GAP = 0.8f, LINE_GAP = 1.9f;

static float lower_of(float one, float other)
{
    return one < other ? one : other;
}

static float higher_of(float one, float other)
{
    return one < other ? other : one;
}

static float height_of(const struct segment *segment)
{
    return segment->top - segment->bottom;
}

static float middle_of(const struct segment *segment)
{
    return (segment->top + segment->bottom) / 2;
}

static bool is_space(const struct placed *character)
{
    return !character->replacement && (character->code == ' ' || character->code == '\t' || character->code == '\n');
}

static size_t split(const struct placed *characters, size_t count, struct segment *segments)
{
    size_t found = 0;
    bool open = false;
    for (size_t index = 0; index < count; index++) {
        const struct placed *here = characters + index;
        if (is_space(here)) {
            open = open && here->code != '\n';
            continue;
        }
        struct segment *last = segments + (found ? found - 1 : 0);
        const float gap = open ? here->left - last->right : 0;
        const float height = higher_of(here->top - here->bottom, open ? height_of(last) : 0);
        // Right-to-left text goes back. A line may go on after a hyphen.
        const bool is_apart = gap > COLUMN_GAP * height || gap < last->left - last->right - height;
        if (!open || is_apart || here->top < last->bottom || here->bottom > last->top)
            segments[found++] = (struct segment){ index, 0, here->left, here->right, here->top, here->bottom, 0, 0 };
        last = segments + found - 1;
        last->count = index + 1 - last->first;
        last->left = lower_of(last->left, here->left);
        last->right = higher_of(last->right, here->right);
        last->top = higher_of(last->top, here->top);
        last->bottom = lower_of(last->bottom, here->bottom);
        open = true;
    }
    return found;
}

static int from_top(const void *one, const void *other)
{
    const float first = middle_of(one), second = middle_of(other);
    return (first < second) - (first > second);
}

static int from_left(const void *one, const void *other)
{
    const float first = ((const struct segment *)one)->left, second = ((const struct segment *)other)->left;
    return (first > second) - (first < second);
}

static int in_order(const void *one, const void *other)
{
    const struct segment *first = one, *second = other;
    if (first->line != second->line)
        return first->line < second->line ? -1 : 1;
    return from_left(one, other);
}

// Numbers the lines. Segments that are beside each other are in the same line.
static void number_lines(struct segment *segments, size_t count)
{
    qsort(segments, count, sizeof *segments, from_top);
    size_t line = 0;
    const struct segment *first = segments, *lowest = segments;
    for (size_t index = 1; index < count; index++) {
        struct segment *here = segments + index;
        const float distance = middle_of(first) - middle_of(here);
        if (distance > 0.5f * lower_of(height_of(first), height_of(here))) {
            line += middle_of(lowest) - middle_of(here) > LINE_GAP * height_of(here) ? 2 : 1;
            first = here;
        }
        here->line = line;
        lowest = here;
    }
}

static size_t length_of(const struct placed *characters, const struct segment *segment)
{
    size_t length = 0;
    for (size_t index = 0; index < segment->count; index++) {
        const struct placed *here = characters + segment->first + index;
        length += here->replacement ? here->replacement->length : 1;
    }
    return length;
}

// Gives segments that start at the same place the same column, to the right of all that is left of them.
static void number_columns(const struct placed *characters, struct segment *segments, size_t count, size_t *ends)
{
    qsort(segments, count, sizeof *segments, from_left);
    float width = 0;
    size_t letters = 0;
    for (size_t index = 0; index < count; index++) {
        width += segments[index].right - segments[index].left;
        letters += segments[index].count;
    }
    const float pitch = higher_of(width / (float)letters, 0.1f);
    // How far long text has moved everything to its right.
    size_t shift = 0;
    for (size_t first = 0, end; first < count; first = end) {
        const float place = lower_of((segments[first].left - segments[0].left) / pitch, 2000);
        const size_t natural = (size_t)(place + 0.5f);
        size_t column = natural + shift;
        for (end = first; end < count && segments[end].left - segments[first].left <= pitch / 2; end++)
            if (ends[segments[end].line] && column < ends[segments[end].line] + 1)
                column = ends[segments[end].line] + 1;
        shift = column - natural;
        for (size_t index = first; index < end; index++) {
            segments[index].column = column;
            ends[segments[index].line] = column + length_of(characters, segments + index);
        }
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        fail_out_of_memory();
    return memory;
}

static void write_direction(FILE *file, const struct placed *characters, size_t count, write_segment *write)
{
    struct segment *segments = allocate(count, sizeof *segments);
    const size_t found = split(characters, count, segments);
    // An empty line may follow each line.
    size_t *ends = allocate(2 * found, sizeof *ends);
    // Ordering a segment may add as many characters again.
    struct placed *line = allocate(2 * count, sizeof *line);
    number_lines(segments, found);
    if (found)
        number_columns(characters, segments, found, ends);
    qsort(segments, found, sizeof *segments, in_order);
    size_t at = 0, column = 0;
    for (size_t index = 0; index < found; index++) {
        const struct segment *here = segments + index;
        for (; at < here->line; at++, column = 0)
            fputc('\n', file);
        // Segments of a line that start at the same place would be in each other.
        if (column && here->column <= column) {
            fputc(' ', file);
            column++;
        }
        for (; column < here->column; column++)
            fputc(' ', file);
        memcpy(line, characters + here->first, here->count * sizeof *line);
        write(file, line, here->count);
        column += length_of(characters, here);
    }
    free(line);
    free(ends);
    free(segments);
}

// Copies the characters of one direction. Returns their number.
static size_t select_direction(const struct placed *characters, size_t count, int turns, struct placed *selected)
{
    size_t found = 0;
    for (size_t index = 0; index < count; index++) {
        const struct placed *here = characters + index;
        // PDFium breaks turned lines between words.
        if (here->turns == turns && !(turns && here->generated && here->code == '\n'))
            selected[found++] = *here;
    }
    return found;
}

void write_layout(FILE *file, const struct placed *characters, size_t count, write_segment *write)
{
    size_t counts[4] = { 0 };
    for (size_t index = 0; index < count; index++)
        if (!is_space(characters + index))
            counts[characters[index].turns]++;
    struct placed *selected = allocate(count, sizeof *selected);
    for (bool first = true;; first = false) {
        int most = 0;
        for (int turns = 1; turns < 4; turns++)
            most = counts[turns] > counts[most] ? turns : most;
        if (counts[most] == 0)
            break;
        if (!first)
            fputc('\n', file);
        write_direction(file, selected, select_direction(characters, count, most, selected), write);
        counts[most] = 0;
    }
    free(selected);
}
