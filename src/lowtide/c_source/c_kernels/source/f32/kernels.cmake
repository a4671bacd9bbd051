# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# The kernels on f32. Those of elements are made of a template and a row here.
list(APPEND kernels
  f32/move_f32.c f32/pick.c f32/scale_f32.c f32/normalize_f32.c f32/l2_normalize_f32.c
  f32/softmax_f32.c f32/log_softmax_f32.c
  f32/max_pool_2d_f32.c f32/average_pool_2d_f32.c f32/conv_2d_f32.c f32/conv_transpose_2d_f32.c f32/matmul_f32.c
  f32/resize_2d_f32.c)

# Kernels of one operand: without numbers, with a, or with a and b.
macro(lowtide_make_unary NAME MEANING RESULT)
  lowtide_make_kernel(f32/unary ${NAME} MEANING "${MEANING}" INPUT float OUTPUT float RESULT "${RESULT}")
endmacro()
macro(lowtide_make_with_number NAME MEANING RESULT)
  lowtide_make_kernel(f32/unary_with_number ${NAME} MEANING "${MEANING}" INPUT float OUTPUT float RESULT "${RESULT}")
endmacro()
macro(lowtide_make_with_numbers NAME MEANING RESULT)
  lowtide_make_kernel(f32/unary_with_numbers ${NAME} MEANING "${MEANING}" INPUT float OUTPUT float RESULT "${RESULT}")
endmacro()
macro(lowtide_make_binary NAME INPUT OUTPUT MEANING RESULT)
  lowtide_make_kernel(f32/binary ${NAME} MEANING "${MEANING}" INPUT ${INPUT} OUTPUT ${OUTPUT} RESULT "${RESULT}")
endmacro()
macro(lowtide_make_reduce NAME MEANING FIRST NEXT LAST)
  lowtide_make_kernel(f32/reduce ${NAME} MEANING "${MEANING}" FIRST "${FIRST}" NEXT "${NEXT}" LAST "${LAST}")
endmacro()
macro(lowtide_make_cast FROM INPUT TO OUTPUT)
  set(lowtide_result "(${OUTPUT})x")
  if("${TO}" STREQUAL "bool")
    set(lowtide_result "(uint8_t)(x != 0)")
  endif()
  lowtide_make_kernel(f32/unary cast_${FROM}_${TO} MEANING "Converts elements." INPUT ${INPUT} OUTPUT ${OUTPUT}
                   RESULT "${lowtide_result}")
endmacro()

lowtide_make_unary(abs_f32 "Magnitudes." "fabsf(x)")
lowtide_make_unary(acos_f32 "Inverse cosines." "acosf(x)")
lowtide_make_unary(asin_f32 "Inverse sines." "asinf(x)")
lowtide_make_unary(atan_f32 "Inverse tangents." "atanf(x)")
lowtide_make_unary(ceil_f32 "The integers that are not below." "ceilf(x)")
lowtide_make_unary(cos_f32 "Cosines." "cosf(x)")
lowtide_make_unary(cosh_f32 "Hyperbolic cosines." "coshf(x)")
lowtide_make_unary(erf_f32 "The error function." "erff(x)")
lowtide_make_unary(exp_f32 "Exponentials." "expf(x)")
lowtide_make_unary(floor_f32 "The integers that are not above." "floorf(x)")
lowtide_make_unary(gelu_f32 "x times the probability that a normal number is below x."
                   "0.5f * x * (1.0f + erff(x * 0.70710678f))")
lowtide_make_unary(gelu_tanh_f32 "About x times the probability that a normal number is below x."
                   "0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)))")
lowtide_make_unary(hard_swish_f32 "x times a line from 0 at -3 to 1 at 3."
                   "x * fminf(fmaxf(x / 6.0f + 0.5f, 0.0f), 1.0f)")
lowtide_make_unary(log_f32 "Natural logarithms." "logf(x)")
lowtide_make_unary(mish_f32 "x times the hyperbolic tangent of log(1 + exp(x))."
                   "x * tanhf(fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x))))")
lowtide_make_unary(neg_f32 "Opposite numbers." "-x")
lowtide_make_unary(reciprocal_f32 "Reciprocals." "1.0f / x")
lowtide_make_unary(relu_f32 "Negative numbers become 0." "x < 0.0f ? 0.0f : x")
lowtide_make_unary(round_f32 "The nearest integers, and even ones of two." "rintf(x)")
lowtide_make_unary(sigmoid_f32 "1 / (1 + exp(-x))." "1.0f / (1.0f + expf(-x))")
lowtide_make_unary(sign_f32 "-1, 0 or 1." "x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x)")
lowtide_make_unary(rsqrt_f32 "Reciprocals of square roots." "1.0f / sqrtf(x)")
lowtide_make_unary(sin_f32 "Sines." "sinf(x)")
lowtide_make_unary(sinh_f32 "Hyperbolic sines." "sinhf(x)")
lowtide_make_unary(softplus_f32 "log(1 + exp(x))." "fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)))")
lowtide_make_unary(softsign_f32 "x / (1 + |x|)." "x / (1.0f + fabsf(x))")
lowtide_make_unary(square_f32 "Squares." "x * x")
lowtide_make_unary(sqrt_f32 "Square roots." "sqrtf(x)")
lowtide_make_unary(power_half_f32 "Powers of 0.5, which differ from square roots for -0 and for -infinity."
                   "x == -INFINITY ? INFINITY : sqrtf(x + 0.0f)")
lowtide_make_unary(tan_f32 "Tangents." "tanf(x)")
lowtide_make_unary(tanh_f32 "Hyperbolic tangents." "tanhf(x)")

lowtide_make_with_number(celu_f32 "x, or a * (exp(x / a) - 1) below 0." "x < 0.0f ? a * expm1f(x / a) : x")
lowtide_make_with_number(elu_f32 "x, or a * (exp(x) - 1) below 0." "x < 0.0f ? a * expm1f(x) : x")
lowtide_make_with_number(leaky_relu_f32 "x, or a * x below 0." "x < 0.0f ? a * x : x")
lowtide_make_with_number(swish_f32 "x / (1 + exp(-a * x))." "x / (1.0f + expf(-a * x))")
lowtide_make_with_number(thresholded_relu_f32 "x where it is above a, and 0 elsewhere." "x > a ? x : 0.0f")
lowtide_make_with_numbers(affine_f32 "a * x + b." "a * x + b")
lowtide_make_with_numbers(clip_f32 "The nearest number from a to b." "(x < a ? a : x) > b ? b : (x < a ? a : x)")
lowtide_make_with_numbers(hard_sigmoid_f32 "a * x + b, from 0 to 1."
                          "a * x + b < 0.0f ? 0.0f : (a * x + b > 1.0f ? 1.0f : a * x + b)")
lowtide_make_with_numbers(selu_f32 "b * x, or a * b * (exp(x) - 1) below 0." "x < 0.0f ? a * b * expm1f(x) : b * x")
lowtide_make_with_numbers(shrink_f32 "x moved by a towards 0, and 0 where it is from -b to b."
                          "x < -b ? x + a : (x > b ? x - a : 0.0f)")
lowtide_make_kernel(f32/unary not_u8 MEANING "Whether elements are false." INPUT uint8_t OUTPUT uint8_t
                 RESULT "(uint8_t)(x == 0)")

foreach(type IN ITEMS "f32 float" "i64 int64_t")
  string(REPLACE " " ";" type "${type}")
  list(GET type 0 name)
  list(GET type 1 element)
  lowtide_make_binary(equal_${name} ${element} uint8_t "Whether elements are equal." "(uint8_t)(a == b)")
  lowtide_make_binary(less_${name} ${element} uint8_t "Whether x is below y." "(uint8_t)(a < b)")
  lowtide_make_binary(less_or_equal_${name} ${element} uint8_t "Whether x is not above y." "(uint8_t)(a <= b)")
  lowtide_make_kernel(f32/where where_${name} INPUT ${element})
endforeach()
lowtide_make_binary(add_f32 float float "Sums." "a + b")
lowtide_make_binary(subtract_f32 float float "Differences." "a - b")
lowtide_make_binary(multiply_f32 float float "Products." "a * b")
lowtide_make_binary(add_i64 int64_t int64_t "Sums, of which the last 64 bits count."
                    "(int64_t)((uint64_t)a + (uint64_t)b)")
lowtide_make_binary(subtract_i64 int64_t int64_t "Differences, of which the last 64 bits count."
                    "(int64_t)((uint64_t)a - (uint64_t)b)")
lowtide_make_binary(multiply_i64 int64_t int64_t "Products, of which the last 64 bits count."
                    "(int64_t)((uint64_t)a * (uint64_t)b)")
lowtide_make_binary(divide_f32 float float "Quotients." "a / b")
lowtide_make_binary(maximum_f32 float float "The larger elements." "a > b || a != a ? a : b")
lowtide_make_binary(minimum_f32 float float "The smaller elements." "a < b || a != a ? a : b")
lowtide_make_binary(modulo_f32 float float "What division leaves, with the sign of x." "fmodf(a, b)")
lowtide_make_binary(power_f32 float float "Powers." "powf(a, b)")
lowtide_make_binary(prelu_f32 float float "x, or x times y where x is below 0." "a < 0.0f ? a * b : a")
lowtide_make_binary(squared_difference_f32 float float "Squares of differences." "(a - b) * (a - b)")
lowtide_make_binary(and_u8 uint8_t uint8_t "Whether both are true." "(uint8_t)(a != 0 && b != 0)")
lowtide_make_binary(or_u8 uint8_t uint8_t "Whether one of both is true." "(uint8_t)(a != 0 || b != 0)")
lowtide_make_binary(xor_u8 uint8_t uint8_t "Whether exactly one of both is true." "(uint8_t)((a != 0) != (b != 0))")

lowtide_make_reduce(reduce_l1_f32 "Sums of magnitudes." "0.0f" "result + fabsf(x)" "result")
lowtide_make_reduce(reduce_l2_f32 "Roots of sums of squares." "0.0f" "result + x * x" "sqrtf(result)")
lowtide_make_reduce(reduce_log_sum_f32 "Logarithms of sums." "0.0f" "result + x" "logf(result)")
lowtide_make_reduce(reduce_max_f32 "Maxima." "from[0]" "x > result ? x : result" "result")
lowtide_make_reduce(reduce_mean_f32 "Means." "0.0f" "result + x" "result / (float)(p->counts[1] * p->counts[3])")
lowtide_make_reduce(reduce_min_f32 "Minima." "from[0]" "x < result ? x : result" "result")
lowtide_make_reduce(reduce_product_f32 "Products." "1.0f" "result * x" "result")
lowtide_make_reduce(reduce_sum_f32 "Sums." "0.0f" "result + x" "result")
lowtide_make_reduce(reduce_sum_square_f32 "Sums of squares." "0.0f" "result + x * x" "result")

lowtide_make_kernel(f32/arg arg_max_f32 MEANING "largest" BETTER ">" WORSE "<")
lowtide_make_kernel(f32/arg arg_min_f32 MEANING "smallest" BETTER "<" WORSE ">")
lowtide_make_kernel(f32/gather gather_i32 INPUT int32_t)
lowtide_make_kernel(f32/gather gather_i64 INPUT int64_t)

lowtide_make_cast(f32 float i64 int64_t)
lowtide_make_cast(f32 float i32 int32_t)
lowtide_make_cast(f32 float u8 uint8_t)
lowtide_make_cast(f32 float bool uint8_t)
lowtide_make_cast(i64 int64_t f32 float)
lowtide_make_cast(i64 int64_t i32 int32_t)
lowtide_make_cast(i64 int64_t bool uint8_t)
lowtide_make_cast(i32 int32_t f32 float)
lowtide_make_cast(i32 int32_t i64 int64_t)
lowtide_make_cast(u8 uint8_t f32 float)
lowtide_make_cast(bool uint8_t f32 float)
lowtide_make_cast(bool uint8_t i64 int64_t)
lowtide_make_cast(bool uint8_t i32 int32_t)
