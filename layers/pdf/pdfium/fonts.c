#include "fonts.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "big_endian.h"
#include "pdfium.h"

// From fpdf_sysfontinfo.h
enum {
    CHARSET_ANSI = 0,
    CHARSET_SYMBOL = 2,
    CHARSET_SHIFT_JIS = 128,
    CHARSET_HANGUL = 129,
    CHARSET_GB2312 = 134,
    CHARSET_BIG5 = 136,
    CHARSET_HEBREW = 177,
    CHARSET_ARABIC = 178,
    CHARSET_THAI = 222
};
enum { PITCH_FIXED = 1, PITCH_ROMAN = 16 };

#define TTCF 0x74746366
#define BOLD_FROM 600

// The files of a family: regular, bold, italic, bold italic. PDFium synthesizes missing styles.
struct family {
    const char *files[4];
};

#define STYLES(name, regular) { { name regular ".ttf", name "-Bold.ttf", name "-Italic.ttf", name "-BoldItalic.ttf" } }
#define ONE(file) { { file, file, file, file } }
static const struct family SANS = STYLES("LiberationSans", "-Regular");
static const struct family NARROW = STYLES("LiberationSansNarrow", "-Regular");
static const struct family SERIF = STYLES("LiberationSerif", "-Regular");
static const struct family MONO_FAMILY = STYLES("LiberationMono", "-Regular");
static const struct family CARLITO = STYLES("Carlito", "-Regular");
static const struct family CALADEA = STYLES("Caladea", "-Regular");
static const struct family DEJAVU = { { "DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSans.ttf", "DejaVuSans-Bold.ttf" } };
static const struct family DEJAVU_SERIF = { { "DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf", "DejaVuSerif.ttf",
                                              "DejaVuSerif-Bold.ttf" } };
static const struct family DEJAVU_MONO = { { "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSansMono-Oblique.ttf",
                                             "DejaVuSansMono-BoldOblique.ttf" } };
static const struct family CHINESE = ONE("wqy-microhei.ttc");
static const struct family JAPANESE = ONE("MTLc3m.ttf");
static const struct family THAI_FAMILY = ONE("NotoSansThai-Regular.ttf");

// Font names in documents, without spaces and hyphens, and their substitutes. PDFium is told that these fonts are
// installed, because only then does it pass on the style in a name. The longest entry that is a prefix of the name
// applies.
static const struct {
    const char *name;
    const struct family *family;
} FAMILIES[] = {
    { "ArialNarrow", &NARROW }, { "HelveticaNarrow", &NARROW }, { "LiberationSansNarrow", &NARROW },
    { "Calibri", &CARLITO }, { "CalibriLight", &CARLITO }, { "Carlito", &CARLITO }, { "Candara", &CARLITO },
    { "Corbel", &CARLITO }, { "Aptos", &CARLITO },
    { "CambriaMath", &CALADEA }, { "Cambria", &CALADEA }, { "Caladea", &CALADEA }, { "Constantia", &CALADEA },
    { "Verdana", &DEJAVU }, { "Tahoma", &DEJAVU }, { "LucidaSans", &DEJAVU }, { "LucidaGrande", &DEJAVU },
    { "LucidaSansUnicode", &DEJAVU }, { "Geneva", &DEJAVU }, { "BitstreamVeraSans", &DEJAVU },
    { "Consolas", &DEJAVU_MONO }, { "Menlo", &DEJAVU_MONO }, { "Monaco", &DEJAVU_MONO }, { "DejaVuSansMono", &DEJAVU_MONO },
    { "DejaVuSans", &DEJAVU }, { "DejaVuSerif", &DEJAVU_SERIF },
    { "Courier", &MONO_FAMILY }, { "CourierNew", &MONO_FAMILY }, { "LucidaConsole", &MONO_FAMILY },
    { "LucidaSansTypewriter", &MONO_FAMILY }, { "LiberationMono", &MONO_FAMILY }, { "AndaleMono", &MONO_FAMILY },
    { "LetterGothic", &MONO_FAMILY }, { "NimbusMono", &MONO_FAMILY },
    { "Times", &SERIF }, { "TimesNewRoman", &SERIF }, { "Georgia", &SERIF }, { "Garamond", &SERIF }, { "Palatino", &SERIF },
    { "PalatinoLinotype", &SERIF }, { "BookAntiqua", &SERIF }, { "Bookman", &SERIF }, { "BookmanOldStyle", &SERIF },
    { "Century", &SERIF }, { "CenturySchoolbook", &SERIF }, { "NewCenturySchlbk", &SERIF }, { "LiberationSerif", &SERIF },
    { "NimbusRoman", &SERIF }, { "Baskerville", &SERIF }, { "Minion", &SERIF }, { "MinionPro", &SERIF },
    { "Arial", &SANS }, { "ArialMT", &SANS }, { "ArialUnicodeMS", &SANS }, { "ArialBlack", &SANS }, { "Helvetica", &SANS },
    { "HelveticaNeue", &SANS }, { "LiberationSans", &SANS }, { "SegoeUI", &SANS }, { "TrebuchetMS", &SANS },
    { "Trebuchet", &SANS }, { "MicrosoftSansSerif", &SANS }, { "NimbusSans", &SANS }, { "MyriadPro", &SANS },
    { "Myriad", &SANS }, { "Univers", &SANS }, { "Frutiger", &SANS }, { "Futura", &SANS },
    { "CenturyGothic", &SANS }, { "GillSans", &SANS }, { "FranklinGothic", &SANS },
};
#define FAMILY_COUNT (sizeof FAMILIES / sizeof *FAMILIES)

// Symbol fonts, whose codes are not letters. PDFium's own faces for them are closer.
static const char *const SIGNS[] = { "wingdings", "webdings", "zapfdingbats", "dingbats", "symbol", "marlett", "mtextra", NULL };

// Families that the operator has added, by name without spaces and hyphens. They take precedence over the table above.
#define MAX_OWN 512
static struct own_family {
    const char *name;
    char key[128];
    struct family family;
} own[MAX_OWN];
static size_t own_count;

// Exceeds the number of files in the table above and of the operator's.
#define MAX_FACES (64 + 4 * MAX_OWN)

// Mapped faces, which stay mapped once opened.
static struct face {
    const char *file;
    const unsigned char *bytes;
    size_t size;
} faces[MAX_FACES];

static const char *folder;

static struct face *open_face(const char *name)
{
    struct face *face = faces;
    while (face < faces + MAX_FACES && face->file && strcmp(face->file, name))
        face++;
    if (face == faces + MAX_FACES)
        return NULL;
    if (face->file)
        return face->bytes ? face : NULL;
    face->file = name;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && !fstat(file, &status)) {
        void *bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED)
            face->bytes = bytes, face->size = status.st_size;
    }
    if (file >= 0)
        close(file);
    return face->bytes ? face : NULL;
}

static void normalize(const char *name, char *out, size_t size)
{
    for (; *name && size > 1; name++)
        if (isalnum((unsigned char)*name))
            *out++ = tolower((unsigned char)*name), size--;
    *out = 0;
}

// Reads the list of the operator's families; see `layers/fonts/own-fonts.ts`. The text stays allocated.
static void read_own_families(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/families", folder);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    char *line = NULL;
    size_t room = 0;
    while (own_count < MAX_OWN && getline(&line, &room, file) > 0) {
        char *text = strdup(line);
        if (!text)
            break;
        struct own_family *entry = &own[own_count];
        char *rest = text;
        entry->name = strsep(&rest, "\t\n");
        for (int style = 0; style < 4; style++)
            entry->family.files[style] = rest ? strsep(&rest, "\t\n") : NULL;
        normalize(entry->name, entry->key, sizeof entry->key);
        if (*entry->key && entry->family.files[3])
            own_count++;
        else
            free(text);
    }
    free(line);
    fclose(file);
}

// Returns the operator's family whose name is the longest prefix of a normalized name.
static const struct family *own_family_of(const char *name)
{
    const struct family *family = NULL;
    size_t longest = 0;
    for (size_t index = 0; index < own_count; index++) {
        const size_t length = strlen(own[index].key);
        if (length <= longest || strncmp(name, own[index].key, length))
            continue;
        longest = length;
        family = &own[index].family;
    }
    return family;
}

static const struct family *family_of(const char *face, int charset, int pitch)
{
    char name[256], known[64];
    normalize(face, name, sizeof name);
    const struct family *added = own_family_of(name);
    if (added)
        return added;
    for (const char *const *sign = SIGNS; *sign; sign++)
        if (!strncmp(name, *sign, strlen(*sign)))
            return NULL;
    if (charset == CHARSET_SYMBOL)
        return NULL;
    if (charset == CHARSET_SHIFT_JIS)
        return &JAPANESE;
    if (charset >= CHARSET_SHIFT_JIS && charset <= CHARSET_BIG5)
        return &CHINESE;
    if (charset == CHARSET_THAI)
        return &THAI_FAMILY;
    if (charset == CHARSET_HEBREW || charset == CHARSET_ARABIC)
        return &DEJAVU;
    const struct family *family = NULL;
    size_t longest = 0;
    for (size_t index = 0; index < FAMILY_COUNT; index++) {
        normalize(FAMILIES[index].name, known, sizeof known);
        const size_t length = strlen(known);
        if (length <= longest || strncmp(name, known, length))
            continue;
        longest = length;
        family = FAMILIES[index].family;
    }
    if (family)
        return family;
    if (pitch & PITCH_FIXED)
        return &MONO_FAMILY;
    return pitch & PITCH_ROMAN ? &SERIF : &SANS;
}

static void *map_font(FPDF_SYSFONTINFO *info, int weight, int italic, int charset, int pitch, const char *name, int *exact)
{
    const struct family *family = family_of(name, charset, pitch);
    if (!family)
        return NULL;
    // The names of the standard fonts contain their style.
    const bool bold = weight >= BOLD_FROM || strstr(name, "Bold");
    const bool slanted = italic || strstr(name, "Italic") || strstr(name, "Oblique");
    return open_face(family->files[(bold ? 1 : 0) + (slanted ? 2 : 0)]);
}

static void *get_font(FPDF_SYSFONTINFO *info, const char *name)
{
    return map_font(info, 400, 0, CHARSET_ANSI, 0, name, NULL);
}

static void enumerate(FPDF_SYSFONTINFO *info, void *mapper)
{
    for (size_t index = 0; index < FAMILY_COUNT; index++)
        FPDF_AddInstalledFont(mapper, FAMILIES[index].name, CHARSET_ANSI);
    for (size_t index = 0; index < own_count; index++)
        FPDF_AddInstalledFont(mapper, own[index].name, CHARSET_ANSI);
}

// Copies `size` bytes from `from`. If the buffer is too small, only returns their number.
static unsigned long copy_out(const unsigned char *from, unsigned long size, unsigned char *buffer, unsigned long room)
{
    if (buffer && room >= size)
        memcpy(buffer, from, size);
    return size;
}

// Returns a table of a font. The whole file is requested as table 0, or as `ttcf` if it is a collection, of which the
// first face is used.
static unsigned long get_data(FPDF_SYSFONTINFO *info, void *font, unsigned table, unsigned char *buffer, unsigned long room)
{
    const struct face *face = font;
    const unsigned start = read32(face->bytes) == TTCF ? read32(face->bytes + 12) : 0;
    if (table == 0)
        return copy_out(face->bytes + start, face->size - start, buffer, room);
    if (table == TTCF)
        return start ? copy_out(face->bytes, face->size, buffer, room) : 0;
    const unsigned char *entry = face->bytes + start + 12;
    for (unsigned count = entry[-8] << 8 | entry[-7]; count > 0; count--, entry += 16)
        if (read32(entry) == table)
            return copy_out(face->bytes + read32(entry + 8), read32(entry + 12), buffer, room);
    return 0;
}

// Returns the face name, by which PDFium caches faces.
static unsigned long get_name(FPDF_SYSFONTINFO *info, void *font, char *buffer, unsigned long room)
{
    const char *name = ((struct face *)font)->file;
    return copy_out((const unsigned char *)name, strlen(name) + 1, (unsigned char *)buffer, room);
}

static int get_charset(FPDF_SYSFONTINFO *info, void *font)
{
    return CHARSET_ANSI;
}

static void delete_font(FPDF_SYSFONTINFO *info, void *font)
{
}

void use_fonts(const char *path)
{
    static FPDF_SYSFONTINFO info = { 1, NULL, enumerate, map_font, get_font, get_data, get_name, get_charset, delete_font };
    folder = path;
    read_own_families();
    FPDF_SetSystemFontInfo(&info);
}
