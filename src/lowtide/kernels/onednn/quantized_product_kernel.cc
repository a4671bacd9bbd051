// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/byte_rows.h"
#include "lowtide/kernels/common/requantize.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"
#include "lowtide/kernels/onednn/quantized_product.h"
#include "lowtide/kernels/onednn/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// The operands of QLinearMatMul.
enum : std::size_t {
  kLeft,
  kLeftScale,
  kLeftZero,
  kRight,
  kRightScale,
  kRightZero,
  kResultScale,
  kResultZero,
  kColumnBias,
  kProductOperandCount
};

constexpr std::size_t kTileKinds = QuantizedTiles::kKinds;

// What one thread works with.
struct ProductThread {
  std::byte* scratch = nullptr;
  std::array<std::array<ProductArguments, kTileKinds>, kTileKinds> arguments{};
  dnnl_stream_t stream = nullptr;
};

// A part of the columns of one matrix of the result.
struct ColumnPart {
  std::int64_t matrix = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t kind = 0;
};

struct BoundQuantizedProduct : BoundKernel {
  const QuantizedProduct* of = nullptr;
  const QuantizedTiles* tiles = nullptr;
  std::array<std::array<const_dnnl_primitive_t, kTileKinds>, kTileKinds> primitives{};
  std::array<BoundTensor, kProductOperandCount> reads{};
  BoundTensor result;
  std::span<ProductThread> workers;  // after the object in memory

  // oneDNN multiplies by signed integers, so 128 is subtracted from unsigned ones.
  [[nodiscard]] std::int32_t shift() const { return of->is_right_signed ? 0 : 128; }
  [[nodiscard]] std::int32_t right_zero(std::int64_t column) const {
    const BoundTensor& zeros = reads[kRightZero];
    return byte_at(zeros, count_of(zeros) == 1 ? 0 : static_cast<std::size_t>(column)) - shift();
  }

  // The second operand of a part, with the steps of the primitive.
  const std::uint8_t* right_of(const ColumnPart& part, std::byte* scratch) const {
    const std::int64_t row_step = of->is_transposed ? 1 : of->columns;
    const std::int64_t column_step = of->is_transposed ? of->inner : 1;
    const std::int64_t matrix = of->matrices[static_cast<std::size_t>(part.matrix)].right * of->inner * of->columns;
    const auto* from = reinterpret_cast<const std::uint8_t*>(*reads[kRight].bytes) + matrix + part.first * column_step;
    if (!of->copies_right()) return from;
    const std::uint8_t flip = of->is_right_signed ? 0 : 0x80;
    auto* to = reinterpret_cast<std::uint8_t*>(scratch);
    for (std::int64_t row = 0; row < of->inner; ++row, from += row_step, to += part.count) {
      if (column_step == 1) {
        copy_flipped(from, part.count, flip, to);
      } else {
        for (std::int64_t at = 0; at < part.count; ++at) to[at] = from[at * column_step] ^ flip;
      }
    }
    return reinterpret_cast<const std::uint8_t*>(scratch);
  }

  // The steps of what right_of() returns.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> right_steps(const ColumnPart& part) const {
    if (of->copies_right()) return {part.count, 1};
    return {1, of->inner};
  }

  // What the sums of each column become. Sets the zero points of the columns to nullptr if all of them are zero.
  ColumnRequantization columns_of(const ColumnPart& part, const std::uint8_t* right, std::byte* scratch) const {
    auto* corrections = reinterpret_cast<std::int32_t*>(scratch + tiles->of_columns.count());
    auto* zeros = corrections + tiles->columns[0];
    auto* factors = reinterpret_cast<float*>(zeros + tiles->columns[0]);
    auto* offsets = factors + tiles->columns[0];
    const std::int32_t left_zero = byte_at(reads[kLeftZero], 0);
    const auto [row_step, column_step] = right_steps(part);
    std::fill_n(corrections, part.count, 0);
    if (left_zero != 0) {
      sum_bytes({reinterpret_cast<const std::int8_t*>(right), of->inner, part.count, row_step, column_step},
                corrections);
    }
    bool has_zeros = false;
    const auto at_column = [&](const BoundTensor& all, std::int64_t column) {
      return elements<float>(all)[count_of(all) == 1 ? 0 : column];
    };
    for (std::int64_t at = 0; at < part.count; ++at) {
      const std::int64_t column = part.first + at;
      zeros[at] = right_zero(column);
      has_zeros = has_zeros || zeros[at] != 0;
      const std::int64_t correction = (of->inner * zeros[at] - corrections[at]) * left_zero;
      corrections[at] = static_cast<std::int32_t>(static_cast<std::uint32_t>(correction));
      factors[at] = *elements<float>(reads[kLeftScale]) * at_column(reads[kRightScale], column);
      offsets[at] = has_operand(reads, kColumnBias) ? at_column(reads[kColumnBias], column) : 0.0F;
    }
    return {.corrections = corrections,
            .zeros = has_zeros ? zeros : nullptr,
            .factors = factors,
            .offsets = offsets,
            .scale = *elements<float>(reads[kResultScale]),
            .zero = byte_at(reads[kResultZero], 0)};
  }

  // The sum of each row of a tile of the first operand.
  void sum_rows(const std::uint8_t* left, std::int64_t rows, std::int32_t* sums) const {
    for (std::int64_t row = 0; row < rows; ++row, left += of->inner) {
      sums[row] =
          of->is_left_signed ? sum_of(reinterpret_cast<const std::int8_t*>(left), of->inner) : sum_of(left, of->inner);
    }
  }

  dnnl_status_t run_rows(const ProductThread& worker, const ColumnPart& part, const std::uint8_t* right,
                         const ColumnRequantization& columns) const {
    auto* sums = reinterpret_cast<std::int32_t*>(worker.scratch + tiles->sums.count());
    auto* row_sums = reinterpret_cast<std::int32_t*>(worker.scratch + tiles->of_rows.count());
    const QuantizedProduct::Matrices& matrices = of->matrices[static_cast<std::size_t>(part.matrix)];
    const auto* left =
        reinterpret_cast<const std::uint8_t*>(*reads[kLeft].bytes) + matrices.left * of->rows * of->inner;
    for (std::int64_t tile = 0; tile < tiles->row_tiles; ++tile) {
      const std::size_t kind = tile + 1 == tiles->row_tiles ? 1 : 0;
      const std::int64_t first = tile * tiles->rows[0];
      const std::uint8_t* const of_tile = left + first * of->inner;
      const dnnl_status_t status = multiply(worker, {kind, part.kind}, of_tile, right);
      if (status != dnnl_success) return status;
      if (columns.zeros != nullptr) sum_rows(of_tile, tiles->rows[kind], row_sums);
      for (std::int64_t row = 0; row < tiles->rows[kind]; ++row) {
        const std::int64_t place = (part.matrix * of->rows + first + row) * of->columns + part.first;
        requantize_columns(result, place, {sums + row * part.count, static_cast<std::size_t>(part.count)},
                           columns.zeros == nullptr ? 0 : row_sums[row], columns);
      }
    }
    return dnnl_success;
  }

  dnnl_status_t multiply(const ProductThread& worker, std::pair<std::size_t, std::size_t> kinds,
                         const std::uint8_t* left, const std::uint8_t* right) const {
    const QuietScope quiet;
    const ProductArguments& arguments = worker.arguments[kinds.first][kinds.second];
    // oneDNN takes no pointers to constant data, but does not write what a primitive reads.
    dnnl_status_t status = dnnl().memory_set_data_handle(arguments[0].memory, const_cast<std::uint8_t*>(left));
    if (status != dnnl_success) return status;
    status = dnnl().memory_set_data_handle(arguments[1].memory, const_cast<std::uint8_t*>(right));
    if (status != dnnl_success) return status;
    return dnnl().primitive_execute(primitives[kinds.first][kinds.second], worker.stream,
                                    static_cast<int>(arguments.size()), arguments.data());
  }

  // Runs the parts of one of the threads that the kernel is prepared for.
  dnnl_status_t run_part(int thread) const {
    const SingleThread single;
    const ProductThread& worker = workers[static_cast<std::size_t>(thread)];
    const std::int64_t parts = static_cast<std::int64_t>(of->matrices.size()) * tiles->column_tiles;
    const std::int64_t end = parts * (thread + 1) / tiles->threads;
    for (std::int64_t at = parts * thread / tiles->threads; at < end; ++at) {
      const std::int64_t tile = at % tiles->column_tiles;
      const std::size_t kind = tile + 1 == tiles->column_tiles ? 1 : 0;
      const ColumnPart part{.matrix = at / tiles->column_tiles,
                            .first = tile * tiles->columns[0],
                            .count = tiles->columns[kind],
                            .kind = kind};
      const std::uint8_t* const right = right_of(part, worker.scratch);
      const dnnl_status_t status = run_rows(worker, part, right, columns_of(part, right, worker.scratch));
      if (status != dnnl_success) return status;
    }
    return dnnl_success;
  }

  static RunStatus call(BoundKernel* self, Team& team) {
    const auto* bound = static_cast<const BoundQuantizedProduct*>(self);
    std::atomic<dnnl_status_t> failed = dnnl_success;
    run_shares(team, bound->tiles->threads, [&](int thread) {
      const dnnl_status_t status = bound->run_part(thread);
      if (status != dnnl_success) failed.store(status, std::memory_order_relaxed);
      return RunCode::ok;
    });
    const dnnl_status_t status = failed.load(std::memory_order_relaxed);
    if (status == dnnl_success) return {};
    return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
  }

  static void end(BoundKernel* self) {
    for (const ProductThread& worker : static_cast<BoundQuantizedProduct*>(self)->workers) {
      for (const auto& of_rows : worker.arguments) {
        for (const ProductArguments& arguments : of_rows) {
          for (const dnnl_exec_arg_t& argument : arguments) dnnl().memory_destroy(argument.memory);
        }
      }
      dnnl().stream_destroy(worker.stream);
    }
  }
};

class QuantizedProductKernel final : public PreparedKernel {
 public:
  using Kernels = std::array<std::array<Primitive, kTileKinds>, kTileKinds>;
  QuantizedProductKernel(QuantizedProduct product, const QuantizedTiles& tiles, Kernels kernels)
      : product_(std::move(product)), tiles_(tiles), kernels_(std::move(kernels)) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(sizeof(BoundQuantizedProduct)) + Bytes(sizeof(ProductThread)) * tiles_.threads;
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) BoundQuantizedProduct;
    bound->run = &BoundQuantizedProduct::call;
    bound->destroy = &BoundQuantizedProduct::end;
    bound->of = &product_;
    bound->tiles = &tiles_;
    std::copy(reads.begin(), reads.end(), bound->reads.begin());
    bound->result = writes[0];
    for (std::size_t row_kind = 0; row_kind < kTileKinds; ++row_kind) {
      for (std::size_t column_kind = 0; column_kind < kTileKinds; ++column_kind) {
        bound->primitives[row_kind][column_kind] = kernels_[row_kind][column_kind].get();
      }
    }
    bound->workers = threads_after<ProductThread>(bound, tiles_.threads);
    for (ProductThread& worker : bound->workers) {
      bind_thread(worker, scratch);
      scratch += tiles_.per_thread.count();
    }
    return bound;
  }

 private:
  void bind_thread(ProductThread& worker, std::byte* scratch) const {
    worker.scratch = scratch;
    const ProductPlaces places{.left = scratch,  // operands are set in each run
                               .right = scratch,
                               .sums = scratch + tiles_.sums.count(),
                               .scratchpad = scratch + tiles_.library.count()};
    for (std::size_t row_kind = 0; row_kind < kTileKinds; ++row_kind) {
      for (std::size_t column_kind = 0; column_kind < kTileKinds; ++column_kind) {
        worker.arguments[row_kind][column_kind] = product_arguments(kernels_[row_kind][column_kind], places);
      }
    }
    worker.stream = new_stream();
  }

  QuantizedProduct product_;
  QuantizedTiles tiles_;
  Kernels kernels_;
};

}  // namespace

Result<std::unique_ptr<PreparedKernel>> prepare_quantized_product(const QuantizedProduct& of,
                                                                  const QuantizedTiles& tiles) {
  QuantizedProductKernel::Kernels kernels;
  for (std::size_t row_kind = 0; row_kind < kTileKinds; ++row_kind) {
    for (std::size_t column_kind = 0; column_kind < kTileKinds; ++column_kind) {
      Primitive made = ready_primitive(tiles.product_of(of, row_kind, column_kind));
      if (made == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
      kernels[row_kind][column_kind] = std::move(made);
    }
  }
  return std::unique_ptr<PreparedKernel>(std::make_unique<QuantizedProductKernel>(of, tiles, std::move(kernels)));
}

}  // namespace lowtide::kernels_internal
