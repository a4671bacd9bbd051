# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# The kernels on images of f32 whose channels lie next to each other.
list(APPEND kernels
  nhwc/conv_2d_nhwc_f32.c nhwc/depthwise_conv_2d_nhwc_f32.c nhwc/resize_bilinear_nhwc_f32.c)
lowtide_make_kernel(nhwc/pool_2d max_pool_2d_nhwc_f32 MEANING "The largest elements of windows."
                    START_FIRST "input[j]" START_SECOND "input[4 + j]" START "input[0]"
                    TAKE_FIRST "x[j] > first[j] ? x[j] : first[j]"
                    TAKE_SECOND "x[4 + j] > second[j] ? x[4 + j] : second[j]" TAKE "x > result ? x : result"
                    LAST "results[i]")
lowtide_make_kernel(nhwc/pool_2d average_pool_2d_nhwc_f32
                    MEANING "The means of windows, of their elements inside of the input."
                    START_FIRST "0.0f" START_SECOND "0.0f" START "0.0f"
                    TAKE_FIRST "first[j] + x[j]" TAKE_SECOND "second[j] + x[4 + j]" TAKE "result + x"
                    LAST "results[i] / (float)(rows * columns)")
