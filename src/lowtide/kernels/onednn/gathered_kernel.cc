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
#include "lowtide/kernels/onednn/gather_places.h"
#include "lowtide/kernels/onednn/gathered_convolution.h"
#include "lowtide/kernels/onednn/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// The operands of QLinearConv.
enum : std::size_t {
  kReadX,
  kReadXScale,
  kReadXZero,
  kReadW,
  kReadWScale,
  kReadWZero,
  kReadYScale,
  kReadYZero,
  kReadAddend,
  kReadOperandCount
};

// An operand with one element for all results, or with one per result.
std::size_t index_in(const BoundTensor& operand, std::int64_t result) {
  return count_of(operand) == 1 ? 0 : static_cast<std::size_t>(result);
}

std::int32_t wrapped_i32(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

// What one thread of the team works with.
struct GatheringThread {
  std::byte* scratch = nullptr;
  std::array<ProductArguments, 2> arguments{};
  dnnl_stream_t stream = nullptr;
};

struct BoundGathering : BoundKernel {
  const GatheredConvolution* of = nullptr;
  const GatheredTiles* tiles = nullptr;
  std::array<const_dnnl_primitive_t, 2> primitives{};
  std::array<BoundTensor, kReadOperandCount> reads{};
  BoundTensor result;
  std::int32_t* weight_sums = nullptr;
  std::span<GatheringThread> workers;  // after the object in memory

  // The operand as a tensor of bytes. Zero points are those of the values that oneDNN multiplies.
  [[nodiscard]] const std::uint8_t* bytes_of(std::size_t operand) const {
    return reinterpret_cast<const std::uint8_t*>(*reads[operand].bytes);
  }
  // oneDNN multiplies by signed integers, so 128 is subtracted from unsigned ones.
  [[nodiscard]] std::uint8_t flip() const { return reads[kReadX].dtype == DType::u8 ? 0x80 : 0; }
  [[nodiscard]] std::int32_t right_zero() const { return byte_at(reads[kReadXZero], 0) - flip(); }

  void sum_weights(std::int64_t begin, std::int64_t end) const {
    const std::int64_t terms = of->terms();
    for (std::int64_t at = begin; at < end; ++at) {
      const std::uint8_t* row = bytes_of(kReadW) + at * terms;
      const bool is_signed = reads[kReadW].dtype == DType::i8;
      weight_sums[at] = is_signed ? sum_of(reinterpret_cast<const std::int8_t*>(row), terms) : sum_of(row, terms);
    }
  }

  // sums[column] = the sum of a column of the gathered matrix
  void sum_columns(const std::int8_t* gathered, std::int64_t columns, std::int32_t* sums) const {
    std::fill_n(sums, columns, 0);
    sum_bytes({.first = gathered, .rows = of->terms(), .columns = columns, .row_step = columns}, sums);
  }

  [[nodiscard]] bool has_weight_zeros(std::int64_t first) const {
    for (std::int64_t at = 0; at < of->results; ++at) {
      if (byte_at(reads[kReadWZero], index_in(reads[kReadWZero], first + at)) != 0) return true;
    }
    return false;
  }

  // Makes the results of one channel of the result from the sums of products.
  void finish_channel(std::int64_t channel, std::span<std::int32_t> sums, const std::int32_t* column_sums,
                      std::int64_t to) const {
    const std::int64_t weight_zero = byte_at(reads[kReadWZero], index_in(reads[kReadWZero], channel));
    const bool has_addend = has_operand(reads, kReadAddend);
    const bool is_integer = has_addend && reads[kReadAddend].dtype == DType::i32;
    std::int64_t constant =
        weight_zero * right_zero() * of->terms() - static_cast<std::int64_t>(right_zero()) * weight_sums[channel];
    if (is_integer) constant += elements<std::int32_t>(reads[kReadAddend])[channel];
    const auto added = static_cast<std::uint32_t>(constant);
    for (std::size_t at = 0; at < sums.size(); ++at) {
      std::uint32_t sum = static_cast<std::uint32_t>(sums[at]) + added;
      if (weight_zero != 0) sum -= static_cast<std::uint32_t>(weight_zero * column_sums[at]);
      sums[at] = wrapped_i32(sum);
    }
    requantize(result, to, 1, sums,
               {.factor = *elements<float>(reads[kReadXScale]) *
                          elements<float>(reads[kReadWScale])[index_in(reads[kReadWScale], channel)],
                .offset = has_addend && !is_integer ? elements<float>(reads[kReadAddend])[channel] : 0.0F,
                .scale = *elements<float>(reads[kReadYScale]),
                .zero = byte_at(reads[kReadYZero], 0)});
  }

  [[nodiscard]] dnnl_status_t run_tile(const GatheringThread& worker, std::int64_t job) const {
    const std::int64_t tile = job % tiles->tiles;
    const std::int64_t group = job / tiles->tiles % of->groups;
    const std::int64_t image = job / tiles->tiles / of->groups;
    const std::size_t kind = tile + 1 == tiles->tiles ? 1 : 0;
    const std::int64_t begin = tile * tiles->places;
    const std::int64_t count = tiles->products[kind].columns;
    auto* gathered = reinterpret_cast<std::uint8_t*>(worker.scratch);
    auto* sums = reinterpret_cast<std::int32_t*>(worker.scratch + tiles->sums.count());
    auto* column_sums = reinterpret_cast<std::int32_t*>(worker.scratch + tiles->column_sums.count());
    const std::int64_t in_count = of->rows.in * of->columns.in;
    gather_places(*of, bytes_of(kReadX) + (image * of->groups + group) * of->channels * in_count,
                  {begin, begin + count}, {flip(), static_cast<std::uint8_t>(right_zero())}, gathered);
    const dnnl_status_t status = multiply(worker, kind, bytes_of(kReadW) + group * of->results * of->terms());
    if (status != dnnl_success) return status;
    if (has_weight_zeros(group * of->results)) {
      sum_columns(reinterpret_cast<const std::int8_t*>(gathered), count, column_sums);
    }
    for (std::int64_t at = 0; at < of->results; ++at) {
      const std::int64_t channel = group * of->results + at;
      finish_channel(channel, {sums + at * count, static_cast<std::size_t>(count)}, column_sums,
                     (image * of->groups * of->results + channel) * of->places() + begin);
    }
    return dnnl_success;
  }

  [[nodiscard]] dnnl_status_t multiply(const GatheringThread& worker, std::size_t kind,
                                       const std::uint8_t* weights) const {
    const QuietScope quiet;
    const ProductArguments& arguments = worker.arguments[kind];
    // oneDNN takes no pointers to constant data, but does not write what a primitive reads.
    const dnnl_status_t status = dnnl().memory_set_data_handle(arguments[0].memory, const_cast<std::uint8_t*>(weights));
    if (status != dnnl_success) return status;
    return dnnl().primitive_execute(primitives[kind], worker.stream, static_cast<int>(arguments.size()),
                                    arguments.data());
  }

  // Runs the tiles of one of the threads that the kernel is prepared for.
  [[nodiscard]] dnnl_status_t run_part(int part) const {
    const SingleThread single;
    const std::int64_t jobs = of->images * of->groups * tiles->tiles;
    const std::int64_t end = jobs * (part + 1) / tiles->threads;
    for (std::int64_t job = jobs * part / tiles->threads; job < end; ++job) {
      const dnnl_status_t status = run_tile(workers[static_cast<std::size_t>(part)], job);
      if (status != dnnl_success) return status;
    }
    return dnnl_success;
  }

  static RunStatus call(BoundKernel* self, Team& team) {
    struct Shares {
      const BoundGathering* bound;
      int of_team = 1;
      std::atomic<dnnl_status_t> status = dnnl_success;
    };
    auto* bound = static_cast<BoundGathering*>(self);
    const std::int64_t results = bound->of->groups * bound->of->results;
    run_in_parts(team, results, results * bound->of->terms(), [&](std::int64_t begin, std::int64_t end) {
      bound->sum_weights(begin, end);
      return RunCode::ok;
    });
    Shares shares{bound, team.threads()};
    const auto share = [](void* context, int first) noexcept {
      auto* all = static_cast<Shares*>(context);
      for (int part = first; part < all->bound->tiles->threads; part += all->of_team) {
        const dnnl_status_t status = all->bound->run_part(part);
        if (status != dnnl_success) all->status.store(status, std::memory_order_relaxed);
      }
    };
    if (bound->tiles->threads == 1) {
      share(&shares, 0);
    } else {
      team.run(share, &shares);
    }
    const dnnl_status_t status = shares.status.load(std::memory_order_relaxed);
    if (status == dnnl_success) return {};
    return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
  }

  static void end(BoundKernel* self) {
    for (const GatheringThread& worker : static_cast<BoundGathering*>(self)->workers) {
      for (const auto& arguments : worker.arguments) {
        for (const dnnl_exec_arg_t& argument : arguments) dnnl().memory_destroy(argument.memory);
      }
      dnnl().stream_destroy(worker.stream);
    }
  }
};

class GatheredKernel final : public PreparedKernel {
 public:
  GatheredKernel(const GatheredConvolution& convolution, const GatheredTiles& tiles, std::array<Primitive, 2> kernels)
      : convolution_(convolution), tiles_(tiles), kernels_(std::move(kernels)) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(sizeof(BoundGathering)) + Bytes(sizeof(GatheringThread)) * tiles_.threads;
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) BoundGathering;
    bound->run = &BoundGathering::call;
    bound->destroy = &BoundGathering::end;
    bound->of = &convolution_;
    bound->tiles = &tiles_;
    std::copy(reads.begin(), reads.end(), bound->reads.begin());
    bound->result = writes[0];
    bound->weight_sums = reinterpret_cast<std::int32_t*>(scratch);
    for (std::size_t kind = 0; kind < kernels_.size(); ++kind) bound->primitives[kind] = kernels_[kind].get();
    bound->workers = threads_after<GatheringThread>(bound, tiles_.threads);
    scratch += tiles_.weight_sums.count();
    for (GatheringThread& worker : bound->workers) {
      bind_thread(worker, scratch);
      scratch += tiles_.per_thread.count();
    }
    return bound;
  }

 private:
  void bind_thread(GatheringThread& worker, std::byte* scratch) const {
    worker.scratch = scratch;
    for (std::size_t kind = 0; kind < kernels_.size(); ++kind) {
      worker.arguments[kind] = product_arguments(kernels_[kind], {.left = scratch,  // the weights of each group, later
                                                                  .right = scratch,
                                                                  .sums = scratch + tiles_.sums.count(),
                                                                  .scratchpad = scratch + tiles_.library.count()});
    }
    worker.stream = new_stream();
  }

  GatheredConvolution convolution_;
  GatheredTiles tiles_;
  std::array<Primitive, 2> kernels_;
};

}  // namespace

Result<std::unique_ptr<PreparedKernel>> prepare_gathered(const GatheredConvolution& convolution,
                                                         const GatheredTiles& tiles) {
  std::array<Primitive, 2> kernels;
  for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
    kernels[kind] = ready_primitive(tiles.products[kind]);
    if (kernels[kind] == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
  }
  return std::unique_ptr<PreparedKernel>(std::make_unique<GatheredKernel>(convolution, tiles, std::move(kernels)));
}

}  // namespace lowtide::kernels_internal
