// The part of PDFium's public C interface that the host uses, declared here because no Debian package contains its
// headers.
#ifndef PDFIUM_H
#define PDFIUM_H

#include <stddef.h>

typedef struct fpdf_document *FPDF_DOCUMENT;
typedef struct fpdf_page *FPDF_PAGE;
typedef struct fpdf_bitmap *FPDF_BITMAP;
typedef struct fpdf_form *FPDF_FORMHANDLE;
typedef struct fpdf_object *FPDF_PAGEOBJECT;
typedef struct fpdf_mark *FPDF_PAGEOBJECTMARK;
typedef struct fpdf_annotation *FPDF_ANNOTATION;
typedef struct fpdf_text_page *FPDF_TEXTPAGE;
typedef struct fpdf_font *FPDF_FONT;

// From fpdfview.h
enum { FPDF_ERR_PASSWORD = 4, FPDF_ERR_SECURITY = 5 };
enum { FPDFBitmap_Gray = 1, FPDFBitmap_BGR = 2, FPDFBitmap_BGRA = 4 };
enum { FPDF_ANNOT = 0x01, FPDF_GRAYSCALE = 0x08, FPDF_REVERSE_BYTE_ORDER = 0x10,
       FPDF_RENDER_NO_SMOOTHTEXT = 0x1000, FPDF_RENDER_NO_SMOOTHIMAGE = 0x2000, FPDF_RENDER_NO_SMOOTHPATH = 0x4000 };
typedef struct { float width, height; } FS_SIZEF;
typedef struct { float x, y; } FS_POINTF;
typedef struct { float left, top, right, bottom; } FS_RECTF;
typedef struct { float a, b, c, d, e, f; } FS_MATRIX;
void FPDF_InitLibrary(void);
FPDF_DOCUMENT FPDF_LoadMemDocument64(const void *bytes, size_t size, const char *password);
unsigned long FPDF_GetLastError(void);
void FPDF_CloseDocument(FPDF_DOCUMENT);
int FPDF_GetPageCount(FPDF_DOCUMENT);

typedef struct FPDF_FILEWRITE_ {
    int version;
    int (*WriteBlock)(struct FPDF_FILEWRITE_ *self, const void *bytes, unsigned long size);
} FPDF_FILEWRITE;
#define FPDF_REMOVE_SECURITY 3
int FPDF_SaveAsCopy(FPDF_DOCUMENT, FPDF_FILEWRITE *, unsigned long flags);
int FPDF_GetPageSizeByIndexF(FPDF_DOCUMENT, int index, FS_SIZEF *);
FPDF_PAGE FPDF_LoadPage(FPDF_DOCUMENT, int index);
void FPDF_ClosePage(FPDF_PAGE);
float FPDF_GetPageWidthF(FPDF_PAGE);
float FPDF_GetPageHeightF(FPDF_PAGE);
FPDF_BITMAP FPDFBitmap_CreateEx(int width, int height, int format, void *first, int stride);
void FPDFBitmap_Destroy(FPDF_BITMAP);

// From fpdf_progressive.h
enum { FPDF_RENDER_DONE = 2 };
typedef struct pause {
    int version;
    int (*NeedToPauseNow)(struct pause *);
    void *user;
} IFSDK_PAUSE;
int FPDF_RenderPageBitmap_Start(FPDF_BITMAP, FPDF_PAGE, int x, int y, int width, int height, int rotate, int flags,
                                IFSDK_PAUSE *);
void FPDF_RenderPage_Close(FPDF_PAGE);

// From fpdf_edit.h and fpdf_transformpage.h
enum { FPDF_PAGEOBJ_TEXT = 1, FPDF_PAGEOBJ_IMAGE = 3, FPDF_PAGEOBJ_FORM = 5 };
int FPDFPage_CountObjects(FPDF_PAGE);
FPDF_PAGEOBJECT FPDFPage_GetObject(FPDF_PAGE, int index);
int FPDFPage_RemoveObject(FPDF_PAGE, FPDF_PAGEOBJECT);
void FPDFPageObj_Destroy(FPDF_PAGEOBJECT);
int FPDFPageObj_GetType(FPDF_PAGEOBJECT);
int FPDFPageObj_GetMatrix(FPDF_PAGEOBJECT, FS_MATRIX *);
int FPDFPageObj_GetStrokeWidth(FPDF_PAGEOBJECT, float *width);
int FPDFPageObj_GetFillColor(FPDF_PAGEOBJECT, unsigned *red, unsigned *green, unsigned *blue, unsigned *alpha);
int FPDFPageObj_GetStrokeColor(FPDF_PAGEOBJECT, unsigned *red, unsigned *green, unsigned *blue, unsigned *alpha);
int FPDFPageObj_SetStrokeColor(FPDF_PAGEOBJECT, unsigned red, unsigned green, unsigned blue, unsigned alpha);
enum { FPDF_TEXTRENDERMODE_FILL = 0, FPDF_TEXTRENDERMODE_FILL_STROKE = 2 };
int FPDFTextObj_GetTextRenderMode(FPDF_PAGEOBJECT);
int FPDFTextObj_SetTextRenderMode(FPDF_PAGEOBJECT, int mode);
int FPDFFormObj_CountObjects(FPDF_PAGEOBJECT);
FPDF_PAGEOBJECT FPDFFormObj_GetObject(FPDF_PAGEOBJECT, unsigned long index);
int FPDFPageObj_CountMarks(FPDF_PAGEOBJECT);
FPDF_PAGEOBJECTMARK FPDFPageObj_GetMark(FPDF_PAGEOBJECT, unsigned long index);
int FPDFPageObjMark_GetParamBlobValue(FPDF_PAGEOBJECTMARK, const char *key, void *bytes, unsigned long size,
                                      unsigned long *needed);
int FPDFPageObjMark_GetParamIntValue(FPDF_PAGEOBJECTMARK, const char *key, int *value);
int FPDFPageObjMark_RemoveParam(FPDF_PAGEOBJECT, FPDF_PAGEOBJECTMARK, const char *key);
int FPDFPageObjMark_SetBlobParam(FPDF_DOCUMENT, FPDF_PAGEOBJECT, FPDF_PAGEOBJECTMARK, const char *key, void *bytes,
                                 unsigned long size);
FPDF_FONT FPDFText_LoadStandardFont(FPDF_DOCUMENT, const char *name);
int FPDFFont_GetGlyphWidth(FPDF_FONT, unsigned character, float size, float *width);
void FPDFFont_Close(FPDF_FONT);
int FPDFImageObj_GetImagePixelSize(FPDF_PAGEOBJECT, unsigned *width, unsigned *height);
int FPDFImageObj_GetImageFilterCount(FPDF_PAGEOBJECT);
unsigned long FPDFImageObj_GetImageFilter(FPDF_PAGEOBJECT, int index, void *name, unsigned long length);
unsigned long FPDFImageObj_GetImageDataRaw(FPDF_PAGEOBJECT, void *bytes, unsigned long size);
int FPDF_GetPageBoundingBox(FPDF_PAGE, FS_RECTF *);
int FPDFPage_GetMediaBox(FPDF_PAGE, float *left, float *bottom, float *right, float *top);
void FPDFPage_SetMediaBox(FPDF_PAGE, float left, float bottom, float right, float top);
void FPDFPage_SetCropBox(FPDF_PAGE, float left, float bottom, float right, float top);

// From fpdf_flatten.h
enum { FLATTEN_SUCCESS = 1 };
enum { FLAT_NORMALDISPLAY };
int FPDFPage_Flatten(FPDF_PAGE, int usage);

// From fpdf_formfill.h. The structure starts with its version, and all callbacks are optional.
typedef struct { int version; void *callbacks[62]; } FPDF_FORMFILLINFO;
int FPDF_GetFormType(FPDF_DOCUMENT);
FPDF_FORMHANDLE FPDFDOC_InitFormFillEnvironment(FPDF_DOCUMENT, FPDF_FORMFILLINFO *);
void FPDFDOC_ExitFormFillEnvironment(FPDF_FORMHANDLE);
void FORM_OnAfterLoadPage(FPDF_PAGE, FPDF_FORMHANDLE);
void FORM_OnBeforeClosePage(FPDF_PAGE, FPDF_FORMHANDLE);
void FPDF_FFLDraw(FPDF_FORMHANDLE, FPDF_BITMAP, FPDF_PAGE, int x, int y, int width, int height, int rotate, int flags);

// From fpdf_annot.h
enum {
    FPDF_ANNOT_LINK = 2,
    FPDF_ANNOT_FREETEXT = 3,
    FPDF_ANNOT_INK = 15,
    FPDF_ANNOT_WIDGET = 20
};
enum { FPDF_ANNOT_FLAG_HIDDEN = 0x02, FPDF_ANNOT_FLAG_NOVIEW = 0x20 };
enum { FPDFANNOT_COLORTYPE_Color, FPDFANNOT_COLORTYPE_InteriorColor };
int FPDFPage_GetAnnotCount(FPDF_PAGE);
FPDF_ANNOTATION FPDFPage_GetAnnot(FPDF_PAGE, int index);
void FPDFPage_CloseAnnot(FPDF_ANNOTATION);
int FPDFAnnot_GetSubtype(FPDF_ANNOTATION);
int FPDFAnnot_HasKey(FPDF_ANNOTATION, const char *key);
int FPDFAnnot_GetFlags(FPDF_ANNOTATION);
int FPDFAnnot_SetFlags(FPDF_ANNOTATION, int flags);
int FPDFAnnot_GetColor(FPDF_ANNOTATION, int type, unsigned *red, unsigned *green, unsigned *blue, unsigned *alpha);
int FPDFAnnot_GetBorder(FPDF_ANNOTATION, float *horizontal, float *vertical, float *width);
int FPDFAnnot_GetRect(FPDF_ANNOTATION, FS_RECTF *);
int FPDFAnnot_SetRect(FPDF_ANNOTATION, const FS_RECTF *);
unsigned long FPDFAnnot_GetInkListCount(FPDF_ANNOTATION);
unsigned long FPDFAnnot_GetInkListPath(FPDF_ANNOTATION, unsigned long path, FS_POINTF *, unsigned long length);
int FPDFAnnot_GetNumberValue(FPDF_ANNOTATION, const char *key, float *value);
// Writes UTF-16 and returns the number of bytes including the terminator.
unsigned long FPDFAnnot_GetStringValue(FPDF_ANNOTATION, const char *key, unsigned short *buffer, unsigned long bytes);
unsigned long FPDFAnnot_GetAP(FPDF_ANNOTATION, int mode, unsigned short *buffer, unsigned long bytes);
int FPDFAnnot_SetAP(FPDF_ANNOTATION, int mode, const unsigned short *content);

// From fpdf_text.h
FPDF_TEXTPAGE FPDFText_LoadPage(FPDF_PAGE);
void FPDFText_ClosePage(FPDF_TEXTPAGE);
int FPDFText_CountChars(FPDF_TEXTPAGE);
unsigned FPDFText_GetUnicode(FPDF_TEXTPAGE, int index);
int FPDFText_GetLooseCharBox(FPDF_TEXTPAGE, int index, FS_RECTF *);
int FPDFText_HasUnicodeMapError(FPDF_TEXTPAGE, int index);
int FPDFText_GetCharBox(FPDF_TEXTPAGE, int index, double *left, double *right, double *bottom, double *top);
int FPDFText_GetCharOrigin(FPDF_TEXTPAGE, int index, double *x, double *y);
int FPDFText_GetMatrix(FPDF_TEXTPAGE, int index, FS_MATRIX *);
double FPDFText_GetFontSize(FPDF_TEXTPAGE, int index);
int FPDFText_IsHyphen(FPDF_TEXTPAGE, int index);
int FPDFText_IsGenerated(FPDF_TEXTPAGE, int index);
FPDF_PAGEOBJECT FPDFText_GetTextObject(FPDF_TEXTPAGE, int index);

// From fpdf_sysfontinfo.h
typedef struct font_info {
    int version;
    void (*Release)(struct font_info *);
    void (*EnumFonts)(struct font_info *, void *mapper);
    void *(*MapFont)(struct font_info *, int weight, int italic, int charset, int pitch, const char *face, int *exact);
    void *(*GetFont)(struct font_info *, const char *face);
    unsigned long (*GetFontData)(struct font_info *, void *font, unsigned table, unsigned char *buffer, unsigned long size);
    unsigned long (*GetFaceName)(struct font_info *, void *font, char *buffer, unsigned long size);
    int (*GetFontCharset)(struct font_info *, void *font);
    void (*DeleteFont)(struct font_info *, void *font);
} FPDF_SYSFONTINFO;
void FPDF_SetSystemFontInfo(FPDF_SYSFONTINFO *);
void FPDF_AddInstalledFont(void *mapper, const char *face, int charset);

#endif
