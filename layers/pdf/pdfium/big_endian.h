// Numbers with the most significant byte first, as in most file formats.
#ifndef BIG_ENDIAN_H
#define BIG_ENDIAN_H

#include <stdint.h>

static inline uint32_t read32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static inline void write32(unsigned char *bytes, uint32_t number)
{
    bytes[0] = number >> 24, bytes[1] = number >> 16, bytes[2] = number >> 8, bytes[3] = number;
}

#endif
