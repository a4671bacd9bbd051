// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: first_tap end_tap
// null: bias

// A convolution of images whose channels lie next to each other, in groups. Blocks of eight output channels have their
// weights together: [group][block][row][column][input channel][8]. The last block of a group begins so that it ends
// with the last channel; a group of fewer channels is one block, in which the rest of the weights is 0.
struct lowtide_conv_2d_nhwc_f32 {
  int32_t batches;
  int32_t groups;
  int32_t input_rows;
  int32_t input_columns;
  int32_t input_channels;  // of a group
  int32_t output_rows;
  int32_t output_columns;
  int32_t output_channels;  // of a group
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t row_dilation;
  int32_t column_dilation;
  int32_t top;           // rows of padding before the input
  int32_t left;          // columns of padding before the input
  int32_t output_start;  // where the output begins, and how far its images, rows and columns are apart, in elements
  int32_t output_image_step;
  int32_t output_row_step;
  int32_t output_column_step;
  int32_t limits;  // 1: results are at least `minimum`; 2: and at most `maximum`
  float minimum;
  float maximum;
};

// The taps of a window that are inside of the input, as runs of elements.
struct lowtide_conv_2d_nhwc_f32_taps {
  int32_t rows;
  int32_t runs;    // of a row
  int32_t length;  // elements of a run
  int32_t input_row_step;
  int32_t input_run_step;
  int32_t weights_row_step;
  int32_t weights_run_step;
};

// The first channel of a block.
static int32_t lowtide_conv_2d_nhwc_f32_channel(const struct lowtide_conv_2d_nhwc_f32 *p, int32_t block) {
  const int32_t last = p->output_channels > 8 ? p->output_channels - 8 : 0;
  return block * 8 < last ? block * 8 : last;
}

// Writes the sums of a pixel and a block.
static void lowtide_conv_2d_nhwc_f32_store(const struct lowtide_conv_2d_nhwc_f32 *p, const float *sums,
                                           const float *bias, int32_t block, float *output) {
  const int32_t channel = lowtide_conv_2d_nhwc_f32_channel(p, block);
  const int32_t channels = p->output_channels < 8 ? p->output_channels : 8;
  for (int32_t i = 0; i < channels; ++i) {
    float sum = sums[i];
    if (bias != 0) sum += bias[channel + i];
    if (p->limits > 0) sum = sum < p->minimum ? p->minimum : sum;
    if (p->limits > 1) sum = sum > p->maximum ? p->maximum : sum;
    output[channel + i] = sum;
  }
}

// Four pixels, which are `step` elements apart, and eight channels. Loops over four elements become one vector
// instruction, and compilers would unroll them before they see that.
static void lowtide_conv_2d_nhwc_f32_pixels(const struct lowtide_conv_2d_nhwc_f32 *p,
                                            const struct lowtide_conv_2d_nhwc_f32_taps *taps, const float *input,
                                            int32_t step, const float *weights, const float *bias, int32_t block,
                                            float *output) {
  float sums[8][4];
  for (int32_t i = 0; i < 8; ++i) {
    for (int32_t j = 0; j < 4; ++j) sums[i][j] = 0.0f;
  }
  for (int32_t row = 0; row < taps->rows; ++row) {
    for (int32_t run = 0; run < taps->runs; ++run) {
      const float *x = input + row * taps->input_row_step + run * taps->input_run_step;
      const float *w = weights + row * taps->weights_row_step + run * taps->weights_run_step;
      for (int32_t k = 0; k < taps->length; ++k) {
        const float a = x[k];
        const float b = x[k + step];
        const float c = x[k + 2 * step];
        const float d = x[k + 3 * step];
#pragma GCC unroll 1
        for (int32_t j = 0; j < 4; ++j) {
          sums[0][j] += a * w[j];
          sums[1][j] += a * w[4 + j];
          sums[2][j] += b * w[j];
          sums[3][j] += b * w[4 + j];
          sums[4][j] += c * w[j];
          sums[5][j] += c * w[4 + j];
          sums[6][j] += d * w[j];
          sums[7][j] += d * w[4 + j];
        }
        w += 8;
      }
    }
  }
  for (int32_t i = 0; i < 4; ++i) {
    lowtide_conv_2d_nhwc_f32_store(p, sums[2 * i], bias, block, output + i * p->output_column_step);
  }
}

// One pixel and four blocks of channels.
static void lowtide_conv_2d_nhwc_f32_blocks(const struct lowtide_conv_2d_nhwc_f32 *p,
                                            const struct lowtide_conv_2d_nhwc_f32_taps *taps, const float *input,
                                            const float *weights, const float *bias, int32_t block, float *output) {
  const int32_t filter = p->window_rows * p->window_columns * p->input_channels * 8;
  float sums[8][4];
  for (int32_t i = 0; i < 8; ++i) {
    for (int32_t j = 0; j < 4; ++j) sums[i][j] = 0.0f;
  }
  for (int32_t row = 0; row < taps->rows; ++row) {
    for (int32_t run = 0; run < taps->runs; ++run) {
      const float *x = input + row * taps->input_row_step + run * taps->input_run_step;
      const float *w = weights + row * taps->weights_row_step + run * taps->weights_run_step;
      for (int32_t k = 0; k < taps->length; ++k) {
        const float a = x[k];
#pragma GCC unroll 1
        for (int32_t j = 0; j < 4; ++j) {
          sums[0][j] += a * w[j];
          sums[1][j] += a * w[4 + j];
          sums[2][j] += a * w[filter + j];
          sums[3][j] += a * w[filter + 4 + j];
          sums[4][j] += a * w[2 * filter + j];
          sums[5][j] += a * w[2 * filter + 4 + j];
          sums[6][j] += a * w[3 * filter + j];
          sums[7][j] += a * w[3 * filter + 4 + j];
        }
        w += 8;
      }
    }
  }
  for (int32_t i = 0; i < 4; ++i) lowtide_conv_2d_nhwc_f32_store(p, sums[2 * i], bias, block + i, output);
}

// One pixel and one block.
static void lowtide_conv_2d_nhwc_f32_block(const struct lowtide_conv_2d_nhwc_f32 *p,
                                           const struct lowtide_conv_2d_nhwc_f32_taps *taps, const float *input,
                                           const float *weights, const float *bias, int32_t block, float *output) {
  float sums[2][4];
  for (int32_t j = 0; j < 4; ++j) {
    sums[0][j] = 0.0f;
    sums[1][j] = 0.0f;
  }
  for (int32_t row = 0; row < taps->rows; ++row) {
    for (int32_t run = 0; run < taps->runs; ++run) {
      const float *x = input + row * taps->input_row_step + run * taps->input_run_step;
      const float *w = weights + row * taps->weights_row_step + run * taps->weights_run_step;
      for (int32_t k = 0; k < taps->length; ++k) {
        const float a = x[k];
#pragma GCC unroll 1
        for (int32_t j = 0; j < 4; ++j) {
          sums[0][j] += a * w[j];
          sums[1][j] += a * w[4 + j];
        }
        w += 8;
      }
    }
  }
  lowtide_conv_2d_nhwc_f32_store(p, sums[0], bias, block, output);
}

// The pixel at `column` and all or some of the blocks: with `pixels` = 4, this pixel and the three after it, whose
// windows are inside of their rows, and the block `first`; with 1, this pixel and all blocks.
static void lowtide_conv_2d_nhwc_f32_place(const struct lowtide_conv_2d_nhwc_f32 *p, const float *input,
                                           const float *weights, const float *bias, int32_t y, int32_t column,
                                           int32_t pixels, int32_t first, float *output) {
  const int32_t depth = p->input_channels;
  const int32_t pixel = p->groups * depth;
  const int32_t filter = p->window_rows * p->window_columns * depth * 8;
  const int32_t blocks = (p->output_channels + 7) / 8;
  const int32_t x = column * p->column_stride - p->left;
  const int32_t first_row = lowtide_first_tap(y, p->row_dilation);
  const int32_t first_column = lowtide_first_tap(x, p->column_dilation);
  const int32_t columns = lowtide_end_tap(x, p->column_dilation, p->input_columns, p->window_columns) - first_column;
  // Without dilation and groups, the taps of a row follow each other in memory.
  const int32_t is_dense = p->column_dilation == 1 && p->groups == 1;
  struct lowtide_conv_2d_nhwc_f32_taps taps;
  taps.rows = lowtide_end_tap(y, p->row_dilation, p->input_rows, p->window_rows) - first_row;
  if (columns <= 0) taps.rows = 0;
  taps.runs = is_dense ? 1 : columns;
  taps.length = is_dense ? columns * depth : depth;
  taps.input_row_step = p->row_dilation * p->input_columns * pixel;
  taps.input_run_step = p->column_dilation * pixel;
  taps.weights_row_step = p->window_columns * depth * 8;
  taps.weights_run_step = depth * 8;
  if (taps.rows > 0) {
    input += ((y + first_row * p->row_dilation) * p->input_columns + x + first_column * p->column_dilation) * pixel;
    weights += (first_row * p->window_columns + first_column) * depth * 8;
  }
  if (pixels == 4) {
    lowtide_conv_2d_nhwc_f32_pixels(p, &taps, input, p->column_stride * pixel, weights + first * filter, bias, first,
                                    output);
    return;
  }
  int32_t block = 0;
  for (; block + 4 <= blocks; block += 4) {
    lowtide_conv_2d_nhwc_f32_blocks(p, &taps, input, weights + block * filter, bias, block, output);
  }
  for (; block < blocks; ++block) {
    lowtide_conv_2d_nhwc_f32_block(p, &taps, input, weights + block * filter, bias, block, output);
  }
}

// The columns of an output row. Those from `begin` to `end` have windows inside of their input row. `input` and `output`
// are those of the group.
static void lowtide_conv_2d_nhwc_f32_row(const struct lowtide_conv_2d_nhwc_f32 *p, const float *input,
                                         const float *weights, const float *bias, int32_t y, int32_t begin, int32_t end,
                                         float *output) {
  const int32_t blocks = (p->output_channels + 7) / 8;
  // The input of 32 columns stays in a cache while all blocks go through it.
  for (int32_t tile = begin; tile < end; tile += 32) {
    const int32_t tile_end = tile + 32 < end ? tile + 32 : end;
    for (int32_t block = 0; block < blocks; ++block) {
      for (int32_t next = tile; next < tile_end; next += 4) {
        // The last columns are computed with those before them, even if these are computed again.
        const int32_t x = next + 4 <= end ? next : end - 4;
        lowtide_conv_2d_nhwc_f32_place(p, input, weights, bias, y, x, 4, block, output + x * p->output_column_step);
      }
    }
  }
  for (int32_t x = 0; x < p->output_columns; ++x) {
    if (x == begin) x = end;
    if (x >= p->output_columns) break;
    lowtide_conv_2d_nhwc_f32_place(p, input, weights, bias, y, x, 1, 0, output + x * p->output_column_step);
  }
}

static void lowtide_conv_2d_nhwc_f32(const struct lowtide_conv_2d_nhwc_f32 *p, const float *input, const float *weights,
                                     const float *bias, float *output) {
  const int32_t depth = p->groups * p->input_channels;
  const int32_t group_weights =
      (p->output_channels + 7) / 8 * 8 * p->window_rows * p->window_columns * p->input_channels;
  // Columns whose windows are inside of the input; none, if there are fewer than four.
  const int32_t most = p->input_columns - 1 + p->left - (p->window_columns - 1) * p->column_dilation;
  int32_t begin = p->left <= 0 ? 0 : (p->left + p->column_stride - 1) / p->column_stride;
  int32_t end = most < 0 ? 0 : most / p->column_stride + 1;
  if (end > p->output_columns) end = p->output_columns;
  if (end - begin < 4) begin = end = p->output_columns;
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t group = 0; group < p->groups; ++group) {
      const float *from = input + image * p->input_rows * p->input_columns * depth + group * p->input_channels;
      const float *addends = bias != 0 ? bias + group * p->output_channels : bias;
      for (int32_t row = 0; row < p->output_rows; ++row) {
        float *to = output + p->output_start + image * p->output_image_step + row * p->output_row_step +
                    group * p->output_channels;
        lowtide_conv_2d_nhwc_f32_row(p, from, weights + group * group_weights, addends, row * p->row_stride - p->top,
                                     begin, end, to);
      }
    }
  }
}
