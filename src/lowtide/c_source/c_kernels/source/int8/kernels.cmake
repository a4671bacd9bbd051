# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# The kernels on integers that differ in one type.
lowtide_make_kernel(int8/softmax softmax_i8 IN_PLACE "// in place: input\n" OUTPUT int8 LIMIT INT8 BITS 8)
lowtide_make_kernel(int8/softmax softmax_i8_i16 IN_PLACE "" OUTPUT int16 LIMIT INT16 BITS 16)
lowtide_make_kernel(int8/svdf svdf_i8 STATE int8 LIMIT INT8)
lowtide_make_kernel(int8/svdf svdf_i8_i16 STATE int16 LIMIT INT16)
lowtide_make_kernel(int16/requantize requantize_i16_i8 IN_PLACE "" OUTPUT int8 LIMIT INT8)
lowtide_make_kernel(int16/requantize requantize_i16_i16 IN_PLACE "// in place: input\n" OUTPUT int16 LIMIT INT16)
lowtide_make_kernel(int16/requantize requantize_i16_i32 IN_PLACE "" OUTPUT int32 LIMIT INT32)
