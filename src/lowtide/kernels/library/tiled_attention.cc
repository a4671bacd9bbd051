// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/tiled_attention.h"

#include <algorithm>
#include <new>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/tensor_view.h"
#include "lowtide/kernels/library/dnnl.h"
#include "lowtide/kernels/library/engine.h"
#include "lowtide/kernels/library/facts.h"
#include "lowtide/kernels/library/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// The scores of a tile should fit the second-level cache, beside the keys and values of the head.
constexpr std::int64_t kMostScores = std::int64_t{256} * 1024 / sizeof(float);

TileProducts products_of(const FusedAttention& attention, std::int64_t rows) {
  const auto strides = [](const MatrixPlaces& places) { return Strides{places.row, places.column}; };
  const Strides scores{attention.keys, 1};
  return {rows,
          {rows, attention.width, attention.keys, strides(attention.query), strides(attention.key), scores},
          {rows, attention.keys, attention.columns, scores, strides(attention.value), strides(attention.result)}};
}

// One product as a primitive.
struct ProductKernel {
  PrimitiveDescription description;
  Primitive primitive;
};

// The objects of the library that one product of a session uses.
struct BoundProduct {
  const_dnnl_primitive_t primitive = nullptr;
  std::array<dnnl_exec_arg_t, 4> arguments{};  // left, right, result, scratchpad

  // The places of left, right and result.
  void move_to(const std::array<const float*, 3>& places) const {
    // The library takes no pointers to constant data, but does not write what a primitive reads.
    for (std::size_t at = 0; at < places.size(); ++at) {
      const dnnl_status_t status = dnnl().memory_set_data_handle(arguments[at].memory, const_cast<float*>(places[at]));
      LOWTIDE_CHECK(status == dnnl_success, "memory of a bound product takes any address");
    }
  }
};

BoundProduct bind_product(const ProductKernel& kernel, std::byte* scratchpad) {
  constexpr std::array<std::pair<int, dnnl_query_t>, 4> kArguments{{{DNNL_ARG_SRC, dnnl_query_src_md},
                                                                    {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                                                    {DNNL_ARG_DST, dnnl_query_dst_md},
                                                                    {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md}}};
  BoundProduct bound{.primitive = kernel.primitive.get()};
  for (std::size_t at = 0; at < kArguments.size(); ++at) {
    const auto& [name, tensor] = kArguments[at];
    dnnl_memory_t memory = nullptr;
    const dnnl_status_t made =
        dnnl().memory_create(&memory, tensor_of(kernel.description, tensor), library_engine(), scratchpad);
    LOWTIDE_CHECK(made == dnnl_success, "the library describes memory that exists");
    bound.arguments[at] = {name, memory};
  }
  return bound;
}

// The primitives of a tile.
struct TileKernels {
  std::int64_t rows = 0;
  ProductKernel scores;
  ProductKernel result;
};
struct BoundTile {
  std::int64_t rows = 0;
  BoundProduct scores;
  BoundProduct result;
};

class TiledAttention final : public PreparedKernel {
 public:
  TiledAttention(const FusedAttention& attention, const AttentionTiles& tiles, std::array<TileKernels, 2> kernels)
      : attention_(attention), tiles_(tiles.tiles), scores_(tiles.scores), kernels_(std::move(kernels)) {}

  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)); }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) Bound;
    bound->run = &Bound::call;
    bound->destroy = &Bound::end;
    bound->attention = &attention_;
    bound->tiles = tiles_;
    std::copy_n(reads.begin(), 3, bound->reads.begin());
    if (has_operand(reads, 3)) bound->mask = reads[3].bytes;
    bound->result = writes[0];
    bound->scores = reinterpret_cast<float*>(scratch);
    std::byte* scratchpad = scratch + scores_.count();
    for (std::size_t kind = 0; kind < kernels_.size(); ++kind) {
      bound->kinds[kind] = {kernels_[kind].rows, bind_product(kernels_[kind].scores, scratchpad),
                            bind_product(kernels_[kind].result, scratchpad)};
    }
    const dnnl_status_t made = dnnl().stream_create(&bound->stream, library_engine(), dnnl_stream_in_order);
    LOWTIDE_CHECK(made == dnnl_success, "the library makes streams on a CPU");
    return bound;
  }

 private:
  struct Bound : BoundKernel {
    const FusedAttention* attention = nullptr;
    std::int64_t tiles = 0;
    std::array<BoundTensor, 3> reads{};
    std::byte* const* mask = nullptr;
    BoundTensor result;
    float* scores = nullptr;
    std::array<BoundTile, 2> kinds;
    dnnl_stream_t stream = nullptr;

    static RunStatus call(BoundKernel* self, Team& /*team*/) {
      auto* bound = static_cast<Bound*>(self);
      const SingleThread single;
      for (std::int64_t batch = 0; batch < bound->attention->batches; ++batch) {
        for (std::int64_t head = 0; head < bound->attention->heads; ++head) {
          const RunStatus status = bound->run_head(batch, head);
          if (status.code != RunCode::ok) return status;
        }
      }
      return {};
    }

    RunStatus run_head(std::int64_t batch, std::int64_t head) {
      for (std::int64_t tile = 0, first = 0; tile < tiles; ++tile) {
        BoundTile& kind = kinds[tile + 1 == tiles ? 1 : 0];
        const auto at = [&](std::size_t operand, const MatrixPlaces& places) {
          return elements<float>(reads[operand]) + places.begin(batch, head);
        };
        RunStatus status = execute(
            kind.scores, {at(0, attention->query) + first * attention->query.row, at(1, attention->key), scores});
        if (status.code != RunCode::ok) return status;
        for (std::int64_t row = 0; row < kind.rows; ++row) {
          const std::byte* masks = mask_row(*attention, mask == nullptr ? nullptr : *mask, batch, head, first + row);
          weigh_scores(*attention, masks, scores + row * attention->keys);
        }
        float* to = mutable_elements<float>(result) + attention->result.begin(batch, head);
        status = execute(kind.result, {scores, at(2, attention->value), to + first * attention->result.row});
        if (status.code != RunCode::ok) return status;
        first += kind.rows;
      }
      return {};
    }

    RunStatus execute(const BoundProduct& product, const std::array<const float*, 3>& places) {
      const QuietScope quiet;
      product.move_to(places);
      const dnnl_status_t status = dnnl().primitive_execute(
          product.primitive, stream, static_cast<int>(product.arguments.size()), product.arguments.data());
      if (status == dnnl_success) return {};
      return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
    }

    static void end(BoundKernel* self) {
      auto* bound = static_cast<Bound*>(self);
      for (const BoundTile& kind : bound->kinds) {
        for (const BoundProduct* product : {&kind.scores, &kind.result}) {
          for (const dnnl_exec_arg_t& argument : product->arguments) dnnl().memory_destroy(argument.memory);
        }
      }
      dnnl().stream_destroy(bound->stream);
    }
  };

  FusedAttention attention_;
  std::int64_t tiles_;
  Bytes scores_;
  std::array<TileKernels, 2> kernels_;
};

Result<ProductKernel> product_kernel(const StridedProduct& product) {
  const SingleThread single;
  PrimitiveDescription description = describe(product);
  Primitive primitive;
  if (description != nullptr)
    primitive =
        made_by<Primitive>([&](dnnl_primitive_t* made) { return dnnl().primitive_create(made, description.get()); });
  if (primitive == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
  return ProductKernel{std::move(description), std::move(primitive)};
}

Bytes in_units(std::int64_t bytes) { return Bytes((bytes + 63) / 64 * 64); }

}  // namespace

std::optional<AttentionTiles> attention_tiles(const FusedAttention& attention) {
  if (attention.batches < 1 || attention.heads < 1 || attention.queries < 1 || attention.keys < 1) return std::nullopt;
  const std::int64_t most = std::max<std::int64_t>(kMostScores / attention.keys, 16);
  AttentionTiles tiles{.tiles = (attention.queries + most - 1) / most};
  const std::int64_t rows = (attention.queries + tiles.tiles - 1) / tiles.tiles;
  tiles.tiles = (attention.queries + rows - 1) / rows;
  tiles.products = {products_of(attention, rows), products_of(attention, attention.queries - (tiles.tiles - 1) * rows)};
  tiles.scores = in_units(rows * attention.keys * static_cast<std::int64_t>(sizeof(float)));
  Bytes library;
  for (const TileProducts& products : tiles.products) {
    for (const StridedProduct* product : {&products.scores, &products.result}) {
      const std::optional<PrimitiveFacts> facts = facts_of(*product);
      if (!facts) return std::nullopt;
      library = std::max(library, facts->scratch);
    }
  }
  tiles.scratch = tiles.scores + library;
  return tiles;
}

Result<std::unique_ptr<PreparedKernel>> tiled_attention(const FusedAttention& attention, const AttentionTiles& tiles) {
  std::array<TileKernels, 2> kernels;
  for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
    Result<ProductKernel> scores = product_kernel(tiles.products[kind].scores);
    if (!scores) return scores.error();
    Result<ProductKernel> result = product_kernel(tiles.products[kind].result);
    if (!result) return result.error();
    kernels[kind] = {tiles.products[kind].rows, *std::move(scores), *std::move(result)};
  }
  return std::unique_ptr<PreparedKernel>(std::make_unique<TiledAttention>(attention, tiles, std::move(kernels)));
}

}  // namespace lowtide::kernels_internal
