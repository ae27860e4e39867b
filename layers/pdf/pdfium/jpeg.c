#include "encode.h"

#include <setjmp.h>
#include <stdio.h>
// Must follow stdio.h, which it does not include itself.
#include <jpeglib.h>

static void on_error(j_common_ptr info)
{
    jmp_buf *back = info->client_data;
    longjmp(*back, 1);
}

bool write_jpeg(const struct canvas *canvas, const char *path, const struct encoding *encoding)
{
    struct jpeg_compress_struct jpeg = { 0 };
    struct jpeg_error_mgr manager;
    jmp_buf back;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    jpeg.err = jpeg_std_error(&manager);
    manager.error_exit = on_error;
    jpeg.client_data = &back;
    if (setjmp(back)) {
        jpeg_destroy_compress(&jpeg);
        fclose(file);
        return false;
    }
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = canvas->width;
    jpeg.image_height = canvas->height;
    jpeg.input_components = canvas->channels;
    jpeg.in_color_space = canvas->channels == 1 ? JCS_GRAYSCALE : JCS_EXT_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, encoding->quality, TRUE);
    jpeg.density_unit = 1;
    jpeg.X_density = encoding->x_density + 0.5;
    jpeg.Y_density = encoding->y_density + 0.5;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW rows[16];
        int count = 0;
        for (int y = (int)jpeg.next_scanline; count < 16 && y < canvas->height; y++)
            rows[count++] = row_of(canvas, y);
        jpeg_write_scanlines(&jpeg, rows, count);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return fclose(file) == 0;
}
