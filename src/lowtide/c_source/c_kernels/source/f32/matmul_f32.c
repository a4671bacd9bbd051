// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: addend

// Products of matrices, for up to two batch axes: output = alpha * a * b + beta * addend. Steps count elements, and a
// step of 0 repeats. Output rows are dense.
struct lowtide_matmul_f32 {
  int32_t batches[2];
  int32_t a_batch_steps[2];
  int32_t b_batch_steps[2];
  int32_t rows;
  int32_t inner;
  int32_t columns;
  int32_t a_row_step;
  int32_t a_inner_step;
  int32_t b_inner_step;
  int32_t b_column_step;
  int32_t addend_row_step;
  int32_t addend_column_step;
  float alpha;
  float beta;
};

enum { LOWTIDE_MATMUL_F32_ROWS = 4, LOWTIDE_MATMUL_F32_COLUMNS = 8 };

// Eight columns of four rows. Columns of b lie next to each other. A compiler that unrolls the loop over columns would
// make no vectors of it.
static void lowtide_matmul_f32_block(const struct lowtide_matmul_f32 *p, const float *a, const float *b,
                                     float *output) {
  float total[LOWTIDE_MATMUL_F32_ROWS][LOWTIDE_MATMUL_F32_COLUMNS];
  const int32_t stride = p->a_row_step;
  for (int32_t i = 0; i < LOWTIDE_MATMUL_F32_COLUMNS; ++i) {
    total[0][i] = 0.0f;
    total[1][i] = 0.0f;
    total[2][i] = 0.0f;
    total[3][i] = 0.0f;
  }
  for (int32_t k = 0; k < p->inner; ++k) {
    const float *x = b + k * p->b_inner_step;
    const float *column = a + k * p->a_inner_step;
    const float w0 = column[0];
    const float w1 = column[stride];
    const float w2 = column[2 * stride];
    const float w3 = column[3 * stride];
#pragma GCC unroll 1
    for (int32_t i = 0; i < LOWTIDE_MATMUL_F32_COLUMNS; ++i) {
      total[0][i] += w0 * x[i];
      total[1][i] += w1 * x[i];
      total[2][i] += w2 * x[i];
      total[3][i] += w3 * x[i];
    }
  }
  for (int32_t i = 0; i < LOWTIDE_MATMUL_F32_COLUMNS; ++i) {
    output[i] = total[0][i];
    output[p->columns + i] = total[1][i];
    output[2 * p->columns + i] = total[2][i];
    output[3 * p->columns + i] = total[3][i];
  }
}

// `columns` columns of one row.
static void lowtide_matmul_f32_line(const struct lowtide_matmul_f32 *p, const float *a, const float *b, int32_t columns,
                                    float *output) {
  for (int32_t i = 0; i < columns; ++i) output[i] = 0.0f;
  for (int32_t k = 0; k < p->inner; ++k) {
    const float weight = a[k * p->a_inner_step];
    const float *x = b + k * p->b_inner_step;
    if (p->b_column_step == 1 && columns == LOWTIDE_MATMUL_F32_COLUMNS) {
      for (int32_t i = 0; i < LOWTIDE_MATMUL_F32_COLUMNS; ++i) output[i] += weight * x[i];
    } else {
      for (int32_t i = 0; i < columns; ++i) output[i] += weight * x[i * p->b_column_step];
    }
  }
}

static void lowtide_matmul_f32_finish(const struct lowtide_matmul_f32 *p, const float *addend, int32_t columns,
                                      float *output) {
  for (int32_t i = 0; i < columns; ++i) {
    float sum = p->alpha * output[i];
    if (addend != 0) sum += p->beta * addend[i * p->addend_column_step];
    output[i] = sum;
  }
}

static void lowtide_matmul_f32_matrix(const struct lowtide_matmul_f32 *p, const float *a, const float *b,
                                      const float *addend, float *output) {
  for (int32_t row = 0; row < p->rows; row += LOWTIDE_MATMUL_F32_ROWS) {
    const int32_t rows_left = p->rows - row;
    const int32_t rows = rows_left < LOWTIDE_MATMUL_F32_ROWS ? rows_left : LOWTIDE_MATMUL_F32_ROWS;
    const float *a_rows = a + row * p->a_row_step;
    for (int32_t next = 0; next < p->columns; next += LOWTIDE_MATMUL_F32_COLUMNS) {
      // The last columns are computed with those before them, even if these are computed again.
      const int32_t last = p->columns - LOWTIDE_MATMUL_F32_COLUMNS;
      const int32_t column = last >= 0 && next > last ? last : next;
      const int32_t columns = last >= 0 ? LOWTIDE_MATMUL_F32_COLUMNS : p->columns;
      const float *b_columns = b + column * p->b_column_step;
      float *to = output + row * p->columns + column;
      if (rows == LOWTIDE_MATMUL_F32_ROWS && columns == LOWTIDE_MATMUL_F32_COLUMNS && p->b_column_step == 1) {
        lowtide_matmul_f32_block(p, a_rows, b_columns, to);
      } else {
        for (int32_t i = 0; i < rows; ++i) {
          lowtide_matmul_f32_line(p, a_rows + i * p->a_row_step, b_columns, columns, to + i * p->columns);
        }
      }
      for (int32_t i = 0; i < rows; ++i) {
        const float *added = addend;
        if (added != 0) added += (row + i) * p->addend_row_step + column * p->addend_column_step;
        lowtide_matmul_f32_finish(p, added, columns, to + i * p->columns);
      }
    }
  }
}

static void lowtide_matmul_f32(const struct lowtide_matmul_f32 *p, const float *a, const float *b, const float *addend,
                               float *output) {
  for (int32_t i = 0; i < p->batches[0]; ++i) {
    for (int32_t j = 0; j < p->batches[1]; ++j) {
      lowtide_matmul_f32_matrix(p, a + i * p->a_batch_steps[0] + j * p->a_batch_steps[1],
                                b + i * p->b_batch_steps[0] + j * p->b_batch_steps[1], addend, output);
      output += p->rows * p->columns;
    }
  }
}
