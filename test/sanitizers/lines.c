// Feeds the reader of requests with broken lines, in one process:
//
//   lines <seconds> <seed> <line>...
//
// Prints how many there were and how many were requests. Descriptor 3 gets the answers.
#include "message.c"

#include <stdint.h>
#include <time.h>

#define LONGEST 65536

static uint64_t state;
static unsigned long requests;

static uint32_t below(uint32_t end)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return end ? (uint32_t)(state >> 16) % end : 0;
}

// Reads everything that an engine reads, as every type.
static void read_all(yyjson_val *value, int depth)
{
    static const char *const names[] = { "draw", "open", NULL };
    static const char *const members[] = { "source", "password", "page", "frames", "cropBox", "" };
    for (size_t index = 0; index < sizeof members / sizeof *members; index++) {
        index_of(text_member(value, members[index]), names);
        integer_member(value, members[index], -1);
        number_member(value, members[index], 0.5);
        flag_member(value, members[index]);
    }
    size_t index, end;
    yyjson_val *item;
    if (depth < 8)
        yyjson_arr_foreach(yyjson_obj_get(value, "frames"), index, end, item)
            read_all(item, depth + 1);
}

static void handle(const struct request *request)
{
    requests++;
    index_of(request->operation, (const char *const[]) { "draw", NULL });
    read_all(request->arguments, 0);
    FILE *answer = begin_answer("result");
    fputs("{}", answer);
    finish_answer(answer);
    send_error("CORRUPT_SOURCE", "\"page\":%d", 3);
}

static size_t mutate(char *line, size_t length)
{
    static const char *const pieces[] = { "{", "}", "[", "]", "\"", ":", ",", "\\u0000", "\\ud800", "1e999", "-", "null",
                                          "9223372036854775808" };
    for (uint32_t change = below(6); change > 0 && length > 0; change--) {
        const size_t at = below((uint32_t)length);
        const char *piece = pieces[below(sizeof pieces / sizeof *pieces)];
        const size_t size = strlen(piece);
        switch (below(4)) {
        case 0:
            line[at] = (char)below(256);
            break;
        case 1:
            memmove(line + at, line + at + 1, length - at - 1);
            length--;
            break;
        case 2:
            length = at;
            break;
        default:
            if (length + size < LONGEST) {
                memmove(line + at + size, line + at, length - at);
                memcpy(line + at, piece, size);
                length += size;
            }
        }
    }
    return length;
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    const time_t end = time(NULL) + strtol(arguments[1], NULL, 10);
    state = strtoull(arguments[2], NULL, 10) + 88172645463325252u;
    unsigned long lines = 0;
    while (time(NULL) < end) {
        const char *seed = arguments[3 + below((uint32_t)count - 3)];
        const size_t known = strlen(seed);
        static char line[LONGEST];
        memcpy(line, seed, known);
        const size_t length = mutate(line, known);
        // Exactly as long as the line, so that reading past it is noticed.
        char *copy = malloc(length + 1);
        if (!copy)
            return 1;
        memcpy(copy, line, length);
        copy[length] = 0;
        serve(copy, length, handle);
        free(copy);
        lines++;
    }
    printf("%lu lines, %lu requests\n", lines, requests);
    return 0;
}
