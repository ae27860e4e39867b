// Opens files to read as memory. qpdf seeks thousands of times in each, and the C library asks the kernel every time.
#define _GNU_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct mapped {
    const char *bytes;
    off64_t size, at;
};

static ssize_t read_mapped(void *cookie, char *into, size_t length)
{
    struct mapped *file = cookie;
    const size_t left = file->at < file->size ? (size_t)(file->size - file->at) : 0;
    const size_t count = length < left ? length : left;
    memcpy(into, file->bytes + file->at, count);
    file->at += (off64_t)count;
    return (ssize_t)count;
}

static int seek_mapped(void *cookie, off64_t *offset, int whence)
{
    struct mapped *file = cookie;
    const off64_t start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->at : file->size;
    if (*offset < -start)
        return -1;
    *offset = file->at = start + *offset;
    return 0;
}

static int close_mapped(void *cookie)
{
    struct mapped *file = cookie;
    munmap((void *)file->bytes, (size_t)file->size);
    free(file);
    return 0;
}

// Replaces the function of the C library, which is also its `fopen64`.
FILE *fopen(const char *path, const char *mode)
{
    FILE *file = fopen64(path, mode);
    struct stat status;
    if (!file || mode[0] != 'r' || strchr(mode, '+') || fstat(fileno(file), &status) || status.st_size <= 0)
        return file;
    struct mapped *mapped = malloc(sizeof *mapped);
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    if (!mapped || bytes == MAP_FAILED) {
        free(mapped);
        return file;
    }
    fclose(file);
    *mapped = (struct mapped) { bytes, status.st_size, 0 };
    const cookie_io_functions_t functions = { read_mapped, NULL, seek_mapped, close_mapped };
    FILE *stream = fopencookie(mapped, mode, functions);
    if (!stream)
        close_mapped(mapped);
    return stream;
}
