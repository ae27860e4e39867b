// Replaces the 30 MB of libicudata by an archive of ICU data with no entries. PDFium uses only character properties,
// which are compiled into libicuuc. ICU_DATA is the name that libicuuc looks for, such as icudt76_dat.
const struct {
    unsigned short header_size;
    unsigned char magic[2];
    unsigned short info_size, reserved;
    unsigned char big_endian, charset, character_size, reserved2;
    unsigned char format[4], format_version[4], data_version[4];
    unsigned char padding[8];
    unsigned count;
} ICU_DATA = { 32, { 0xda, 0x27 }, 20, 0, 0, 0, 2, 0, { 'C', 'm', 'n', 'D' }, { 1 }, { 0 }, { 0 }, 0 };
