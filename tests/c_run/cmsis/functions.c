// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "arm_nnfunctions.h"

static void overwrite(const cmsis_nn_context* ctx) {
  for (int32_t at = 0; at < ctx->size; ++at) ((uint8_t*)ctx->buf)[at] = 0xAA;
}

static int8_t clamped(int32_t x, cmsis_nn_activation to) {
  return (int8_t)(x < to.min ? to.min : x > to.max ? to.max : x);
}

// sum * multiplier * 2^(shift - 31), rounded twice.
static int32_t scaled(int32_t sum, int32_t multiplier, int32_t shift) {
  const int64_t left = (int64_t)sum * ((int64_t)1 << (shift > 0 ? shift : 0));
  const int64_t high = (left * multiplier + ((int64_t)1 << 30)) >> 31;
  if (shift >= 0) return (int32_t)high;
  const int64_t half = (int64_t)1 << (-shift - 1);
  return (int32_t)(high >= 0 ? (high + half) >> -shift : -((-high + half) >> -shift));
}

// The places of a window in the input: `first` + i * `step`, for i in [begin, end).
struct taps {
  int32_t first;
  int32_t step;
  int32_t begin;
  int32_t end;
};

static struct taps taps_of(int32_t place, int32_t padding, int32_t stride, int32_t step, int32_t count,
                           int32_t extent) {
  struct taps taps = {place * stride - padding, step, 0, count};
  while (taps.begin < count && taps.first + taps.begin * step < 0) ++taps.begin;
  while (taps.end > taps.begin && taps.first + (taps.end - 1) * step >= extent) --taps.end;
  return taps;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* how,
                                            const cmsis_nn_per_channel_quant_params* scale, const cmsis_nn_dims* from,
                                            const int8_t* input, const cmsis_nn_dims* window, const int8_t* weights,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                            const cmsis_nn_dims* to, int8_t* output) {
  (void)bias_dims;
  overwrite(ctx);
  for (int32_t n = 0; n < to->n; ++n) {
    for (int32_t y = 0; y < to->h; ++y) {
      const struct taps rows = taps_of(y, how->padding.h, how->stride.h, how->dilation.h, window->h, from->h);
      for (int32_t x = 0; x < to->w; ++x) {
        const struct taps columns = taps_of(x, how->padding.w, how->stride.w, how->dilation.w, window->w, from->w);
        for (int32_t o = 0; o < to->c; ++o) {
          int32_t sum = bias ? bias[o] : 0;
          for (int32_t i = rows.begin; i < rows.end; ++i) {
            for (int32_t j = columns.begin; j < columns.end; ++j) {
              const int8_t* at =
                  input +
                  ((n * from->h + rows.first + i * rows.step) * from->w + columns.first + j * columns.step) * from->c;
              const int8_t* by = weights + ((o * window->h + i) * window->w + j) * from->c;
              for (int32_t c = 0; c < from->c; ++c) sum += (at[c] + how->input_offset) * by[c];
            }
          }
          *output++ = clamped(scaled(sum, scale->multiplier[o], scale->shift[o]) + how->output_offset, how->activation);
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* how,
                                                  const cmsis_nn_per_channel_quant_params* scale,
                                                  const cmsis_nn_dims* from, const int8_t* input,
                                                  const cmsis_nn_dims* window, const int8_t* weights,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                  const cmsis_nn_dims* to, int8_t* output) {
  (void)bias_dims;
  overwrite(ctx);
  for (int32_t n = 0; n < to->n; ++n) {
    for (int32_t y = 0; y < to->h; ++y) {
      const struct taps rows = taps_of(y, how->padding.h, how->stride.h, how->dilation.h, window->h, from->h);
      for (int32_t x = 0; x < to->w; ++x) {
        const struct taps columns = taps_of(x, how->padding.w, how->stride.w, how->dilation.w, window->w, from->w);
        for (int32_t o = 0; o < to->c; ++o) {
          int32_t sum = bias ? bias[o] : 0;
          for (int32_t i = rows.begin; i < rows.end; ++i) {
            for (int32_t j = columns.begin; j < columns.end; ++j) {
              const int32_t pixel =
                  (n * from->h + rows.first + i * rows.step) * from->w + columns.first + j * columns.step;
              sum += (input[pixel * from->c + o / how->ch_mult] + how->input_offset) *
                     weights[(i * window->w + j) * to->c + o];
            }
          }
          *output++ = clamped(scaled(sum, scale->multiplier[o], scale->shift[o]) + how->output_offset, how->activation);
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* ctx, const cmsis_nn_fc_params* how,
                                           const cmsis_nn_per_tensor_quant_params* scale, const cmsis_nn_dims* from,
                                           const int8_t* input, const cmsis_nn_dims* window, const int8_t* weights,
                                           const cmsis_nn_dims* bias_dims, const int32_t* bias, const cmsis_nn_dims* to,
                                           int8_t* output) {
  (void)bias_dims;
  overwrite(ctx);
  for (int32_t row = 0; row < from->n; ++row) {
    for (int32_t o = 0; o < to->c; ++o) {
      int32_t sum = bias ? bias[o] : 0;
      for (int32_t c = 0; c < window->n; ++c) {
        sum += (input[row * window->n + c] + how->input_offset) * (weights[o * window->n + c] + how->filter_offset);
      }
      *output++ = clamped(scaled(sum, scale->multiplier, scale->shift) + how->output_offset, how->activation);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

// The sum of a window, or its largest element. Halves of means are rounded away from zero.
static void pool(const cmsis_nn_pool_params* how, const cmsis_nn_dims* from, const int8_t* input,
                 const cmsis_nn_dims* window, const cmsis_nn_dims* to, int8_t* output, int is_mean) {
  for (int32_t n = 0; n < to->n; ++n) {
    for (int32_t y = 0; y < to->h; ++y) {
      const struct taps rows = taps_of(y, how->padding.h, how->stride.h, 1, window->h, from->h);
      for (int32_t x = 0; x < to->w; ++x) {
        const struct taps columns = taps_of(x, how->padding.w, how->stride.w, 1, window->w, from->w);
        const int32_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
        for (int32_t c = 0; c < to->c; ++c) {
          int32_t sum = 0;
          int32_t most = -128;
          for (int32_t i = rows.begin; i < rows.end; ++i) {
            for (int32_t j = columns.begin; j < columns.end; ++j) {
              const int32_t pixel = (n * from->h + rows.first + i) * from->w + columns.first + j;
              const int32_t value = input[pixel * from->c + c];
              sum += value;
              most = value > most ? value : most;
            }
          }
          const int32_t half = sum > 0 ? count / 2 : -(count / 2);
          *output++ = clamped(is_mean ? (sum + half) / count : most, how->activation);
        }
      }
    }
  }
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* how,
                                   const cmsis_nn_dims* from, const int8_t* input, const cmsis_nn_dims* window,
                                   const cmsis_nn_dims* to, int8_t* output) {
  overwrite(ctx);
  pool(how, from, input, window, to, output, 1);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* how,
                                    const cmsis_nn_dims* from, const int8_t* input, const cmsis_nn_dims* window,
                                    const cmsis_nn_dims* to, int8_t* output) {
  overwrite(ctx);
  pool(how, from, input, window, to, output, 0);
  return ARM_CMSIS_NN_SUCCESS;
}
