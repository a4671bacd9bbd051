// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/tiled_attention.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/tensor_view.h"
#include "lowtide/kernels/common/tuning.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"
#include "lowtide/kernels/onednn/facts.h"
#include "lowtide/kernels/onednn/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// The strides of the dense matrix that a matrix is copied to. Its rows or its columns stay together.
Strides dense_like(const MatrixPlaces& places, std::int64_t rows, std::int64_t columns) {
  return places.row < places.column ? Strides{1, rows} : Strides{columns, 1};
}
bool is_dense(const MatrixPlaces& places, std::int64_t rows, std::int64_t columns) {
  return Strides{places.row, places.column} == dense_like(places, rows, columns);
}

// Results of oneDNN have dense rows.
bool has_dense_rows(const MatrixPlaces& places, std::int64_t columns) {
  return places.row == columns && places.column == 1;
}

TileProducts products_of(const FusedAttention& attention, std::int64_t rows) {
  const Strides scores{attention.keys, 1};
  return {rows,
          {rows, attention.width, attention.keys, Strides{attention.width, 1},
           dense_like(attention.key, attention.width, attention.keys), scores},
          {rows, attention.keys, attention.columns, scores,
           dense_like(attention.value, attention.keys, attention.columns), Strides{attention.columns, 1}}};
}

// A matrix to read from or to write to.
template <typename Element>
struct Lying {
  Element* begin;
  Strides strides;
};

// Copies a matrix of [rows, columns]. The inner loop is along the axis whose elements are together.
void copy_matrix(std::int64_t rows, std::int64_t columns, Lying<const float> from, Lying<float> to) {
  if (from.strides.row < from.strides.column) {
    std::swap(rows, columns);
    std::swap(from.strides.row, from.strides.column);
    std::swap(to.strides.row, to.strides.column);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* source = from.begin + row * from.strides.row;
    float* target = to.begin + row * to.strides.row;
    if (from.strides.column == 1 && to.strides.column == 1) {
      std::copy_n(source, columns, target);
    } else {
      for (std::int64_t at = 0; at < columns; ++at) target[at * to.strides.column] = source[at * from.strides.column];
    }
  }
}

// The objects of oneDNN that one product of a session uses.
struct BoundProduct {
  const_dnnl_primitive_t primitive = nullptr;
  std::array<dnnl_exec_arg_t, 4> arguments{};  // left, right, result, scratchpad

  // The places of left, right and result.
  void move_to(const std::array<const float*, 3>& places) const {
    // oneDNN takes no pointers to constant data, but does not write what a primitive reads.
    for (std::size_t at = 0; at < places.size(); ++at) {
      const dnnl_status_t status = dnnl().memory_set_data_handle(arguments[at].memory, const_cast<float*>(places[at]));
      LOWTIDE_CHECK(status == dnnl_success, "memory of a bound product takes any address");
    }
  }
};

BoundProduct bind_product(const Primitive& product, std::byte* scratchpad) {
  constexpr std::array<std::pair<int, dnnl_query_t>, 4> kArguments{{{DNNL_ARG_SRC, dnnl_query_src_md},
                                                                    {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                                                    {DNNL_ARG_DST, dnnl_query_dst_md},
                                                                    {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md}}};
  const_dnnl_primitive_desc_t description = description_of(product);
  BoundProduct bound{.primitive = product.get()};
  for (std::size_t at = 0; at < kArguments.size(); ++at) {
    const auto& [name, tensor] = kArguments[at];
    dnnl_memory_t memory = nullptr;
    const dnnl_status_t made =
        dnnl().memory_create(&memory, tensor_of(description, tensor), onednn_engine(), scratchpad);
    LOWTIDE_CHECK(made == dnnl_success, "oneDNN describes memory that exists");
    bound.arguments[at] = {name, memory};
  }
  return bound;
}

// The primitives of a tile.
struct TileKernels {
  Primitive scores;
  Primitive result;
};
struct BoundTile {
  BoundProduct scores;
  BoundProduct result;
};

// What one thread of the team works with.
struct AttentionThread {
  std::byte* scratch = nullptr;
  std::array<BoundTile, 2> kinds;
  dnnl_stream_t stream = nullptr;

  [[nodiscard]] float* at(Bytes place) const { return reinterpret_cast<float*>(scratch + place.count()); }
};

class TiledAttention final : public PreparedKernel {
 public:
  TiledAttention(const FusedAttention& attention, const AttentionTiles& tiles, int threads,
                 std::array<TileKernels, 2> kernels)
      : attention_(attention), tiles_(tiles), threads_(threads), kernels_(std::move(kernels)) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(sizeof(Bound)) + Bytes(sizeof(AttentionThread)) * threads_;
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) Bound;
    bound->run = &Bound::call;
    bound->destroy = &Bound::end;
    bound->attention = &attention_;
    bound->tiles = &tiles_;
    std::copy_n(reads.begin(), 3, bound->reads.begin());
    if (has_operand(reads, 3)) bound->mask = reads[3].bytes;
    bound->result = writes[0];
    bound->threads = threads_;
    bound->workers = threads_after<AttentionThread>(bound, threads_);
    for (AttentionThread& worker : bound->workers) {
      bind_thread(worker, scratch);
      scratch += tiles_.scratch.count();
    }
    return bound;
  }

 private:
  struct Bound : BoundKernel {
    const FusedAttention* attention = nullptr;
    const AttentionTiles* tiles = nullptr;
    std::array<BoundTensor, 3> reads{};
    std::byte* const* mask = nullptr;
    BoundTensor result;
    int threads = 1;
    std::span<AttentionThread> workers;  // after the object in memory

    // The heads are divided among the threads that the kernel is prepared for. The team may have fewer.
    static RunStatus call(BoundKernel* self, Team& team) {
      struct Shares {
        const Bound* bound;
        int of_team = 1;
        std::atomic<dnnl_status_t> status = dnnl_success;
      };
      Shares shares{static_cast<Bound*>(self), team.threads()};
      const auto share = [](void* context, int first) noexcept {
        auto* all = static_cast<Shares*>(context);
        for (int part = first; part < all->bound->threads; part += all->of_team) {
          const dnnl_status_t status = all->bound->run_part(part);
          if (status != dnnl_success) all->status.store(status, std::memory_order_relaxed);
        }
      };
      if (shares.bound->threads == 1) {
        share(&shares, 0);
      } else {
        team.run(share, &shares);
      }
      const dnnl_status_t status = shares.status.load(std::memory_order_relaxed);
      if (status == dnnl_success) return {};
      return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
    }

    [[nodiscard]] dnnl_status_t run_part(int part) const {
      const SingleThread single;
      const std::int64_t heads = attention->batches * attention->heads;
      const std::int64_t end = heads * (part + 1) / threads;
      for (std::int64_t head = heads * part / threads; head < end; ++head) {
        const dnnl_status_t status =
            run_head(workers[static_cast<std::size_t>(part)], head / attention->heads, head % attention->heads);
        if (status != dnnl_success) return status;
      }
      return dnnl_success;
    }

    // The matrix at `from`, or its copy, which is made here.
    [[nodiscard]] static const float* dense(float* to, const float* from, const MatrixPlaces& lies,
                                            std::array<std::int64_t, 2> extents) {
      if (to == nullptr) return from;
      const auto [rows, columns] = extents;
      copy_matrix(rows, columns, {from, {lies.row, lies.column}}, {to, dense_like(lies, rows, columns)});
      return to;
    }

    [[nodiscard]] dnnl_status_t run_head(const AttentionThread& worker, std::int64_t batch, std::int64_t head) const {
      const FusedAttention& of = *attention;
      const auto at = [&](std::size_t operand, const MatrixPlaces& places) {
        return elements<float>(reads[operand]) + places.begin(batch, head);
      };
      const auto copy_at = [&](const CopyPlace& place) { return place ? worker.at(*place) : nullptr; };
      const float* keys = dense(copy_at(tiles->key), at(1, of.key), of.key, {of.width, of.keys});
      const float* values = dense(copy_at(tiles->value), at(2, of.value), of.value, {of.keys, of.columns});
      float* scores = worker.at(Bytes());
      std::int64_t first = 0;
      for (std::int64_t tile = 0; tile < tiles->tiles; ++tile) {
        const std::size_t kind = tile + 1 == tiles->tiles ? 1 : 0;
        const std::int64_t rows = tiles->products[kind].rows;
        const float* queries = at(0, of.query) + first * of.query.row;
        if (tiles->query) {
          float* copy = worker.at(*tiles->query);
          copy_matrix(rows, of.width, {queries, {of.query.row, of.query.column}}, {copy, {of.width, 1}});
          queries = copy;
        }
        dnnl_status_t status = execute(worker, worker.kinds[kind].scores, {queries, keys, scores});
        if (status != dnnl_success) return status;
        for (std::int64_t row = 0; row < rows; ++row) {
          const std::byte* masks = mask_row(of, mask == nullptr ? nullptr : *mask, batch, head, first + row);
          weigh_scores(of, masks, scores + row * of.keys);
        }
        float* to = mutable_elements<float>(result) + of.result.begin(batch, head) + first * of.result.row;
        float* dense_to = tiles->result ? worker.at(*tiles->result) : to;
        status = execute(worker, worker.kinds[kind].result, {scores, values, dense_to});
        if (status != dnnl_success) return status;
        if (tiles->result)
          copy_matrix(rows, of.columns, {dense_to, {of.columns, 1}}, {to, {of.result.row, of.result.column}});
        first += rows;
      }
      return dnnl_success;
    }

    [[nodiscard]] static dnnl_status_t execute(const AttentionThread& worker, const BoundProduct& product,
                                               const std::array<const float*, 3>& places) {
      const QuietScope quiet;
      product.move_to(places);
      return dnnl().primitive_execute(product.primitive, worker.stream, static_cast<int>(product.arguments.size()),
                                      product.arguments.data());
    }

    static void end(BoundKernel* self) {
      auto* bound = static_cast<Bound*>(self);
      for (const AttentionThread& worker : bound->workers) {
        if (worker.stream == nullptr) continue;  // no thread has it
        for (const BoundTile& kind : worker.kinds) {
          for (const BoundProduct* product : {&kind.scores, &kind.result}) {
            for (const dnnl_exec_arg_t& argument : product->arguments) dnnl().memory_destroy(argument.memory);
          }
        }
        dnnl().stream_destroy(worker.stream);
      }
    }
  };

  void bind_thread(AttentionThread& worker, std::byte* scratch) const {
    worker.scratch = scratch;
    std::byte* library = scratch + tiles_.library.count();
    for (std::size_t kind = 0; kind < kernels_.size(); ++kind) {
      worker.kinds[kind] = {bind_product(kernels_[kind].scores, library), bind_product(kernels_[kind].result, library)};
    }
    worker.stream = new_stream();
  }

  FusedAttention attention_;
  AttentionTiles tiles_;
  int threads_;
  std::array<TileKernels, 2> kernels_;
};

Result<Primitive> product_kernel(const StridedProduct& product) {
  const SingleThread single;
  Primitive primitive = primitive_of(describe(product));
  if (primitive == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
  return primitive;
}

// Appends a matrix of floats to the scratch, at a multiple of 64 bytes.
Bytes append(Bytes& scratch, std::int64_t elements) {
  const Bytes begin = scratch;
  scratch += Bytes((elements * static_cast<std::int64_t>(sizeof(float)) + 63) / 64 * 64);
  return begin;
}

// Requires: all extents are known and at least 1, and the tensors exist, so that no product overflows.
void place_copies(const FusedAttention& of, std::int64_t rows, AttentionTiles& tiles) {
  append(tiles.scratch, rows * of.keys);
  // A part of the rows of a dense matrix whose columns are together is not dense.
  if (!has_dense_rows(of.query, of.width)) tiles.query = append(tiles.scratch, rows * of.width);
  if (!is_dense(of.key, of.width, of.keys)) tiles.key = append(tiles.scratch, of.width * of.keys);
  if (!is_dense(of.value, of.keys, of.columns)) tiles.value = append(tiles.scratch, of.keys * of.columns);
  if (!has_dense_rows(of.result, of.columns)) tiles.result = append(tiles.scratch, rows * of.columns);
  tiles.library = tiles.scratch;
}

}  // namespace

std::optional<AttentionTiles> attention_tiles(const FusedAttention& attention, const CacheSizes& caches) {
  if (attention.batches < 1 || attention.heads < 1 || attention.queries < 1 || attention.keys < 1) return std::nullopt;
  const std::int64_t most = std::max<std::int64_t>(kAttentionScores.floats(caches) / attention.keys, 16);
  AttentionTiles tiles{.tiles = (attention.queries + most - 1) / most};
  const std::int64_t rows = (attention.queries + tiles.tiles - 1) / tiles.tiles;
  tiles.tiles = (attention.queries + rows - 1) / rows;
  tiles.products = {products_of(attention, rows), products_of(attention, attention.queries - (tiles.tiles - 1) * rows)};
  place_copies(attention, rows, tiles);
  Bytes library;
  for (const TileProducts& products : tiles.products) {
    for (const StridedProduct* product : {&products.scores, &products.result}) {
      const std::optional<PrimitiveFacts> facts = facts_of(*product);
      if (!facts) return std::nullopt;
      library = std::max(library, facts->scratch);
    }
  }
  tiles.scratch += Bytes((library.count() + 63) / 64 * 64);
  return tiles;
}

int attention_threads(const FusedAttention& attention, int threads) {
  const auto extent = [](std::int64_t value) { return static_cast<double>(value); };
  const double sums = extent(attention.batches) * extent(attention.heads) * extent(attention.queries) *
                      extent(attention.keys) * extent(attention.width);
  return threads_with_work(threads, attention.batches * attention.heads, sums, kLeastSharedProducts);
}

Result<std::unique_ptr<PreparedKernel>> tiled_attention(const FusedAttention& attention, const AttentionTiles& tiles,
                                                        int threads) {
  std::array<TileKernels, 2> kernels;
  for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
    Result<Primitive> scores = product_kernel(tiles.products[kind].scores);
    if (!scores) return scores.error();
    Result<Primitive> result = product_kernel(tiles.products[kind].result);
    if (!result) return result.error();
    kernels[kind] = {*std::move(scores), *std::move(result)};
  }
  return std::unique_ptr<PreparedKernel>(
      std::make_unique<TiledAttention>(attention, tiles, threads, std::move(kernels)));
}

}  // namespace lowtide::kernels_internal
