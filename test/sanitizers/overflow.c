// Misuses memory or relies on undefined behavior, so that the sanitizers have something to find.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments)
{
    if (count < 2)
        return 0;
    if (!strcmp(arguments[1], "heap")) {
        volatile char *block = malloc((size_t)count);
        if (block)
            block[count] = 1;
        return 0;
    }
    volatile int large = INT_MAX;
    return large + count > 0;
}
