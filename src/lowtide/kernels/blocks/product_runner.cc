// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/product_runner.h"

#include <algorithm>

#include "lowtide/base/interval.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/tuning.h"

namespace lowtide::kernels_internal {
namespace {

using Range = Interval<std::int64_t>;

constexpr std::int64_t kLeastChunk = 768;  // elements of a row: sums are stored and loaded again after each chunk
// A tile of so few rows only waits for weights. The processor itself then asks for them in time, and more requests
// delay it: four matrices of 512 x 512 take 50 us for one row, and 64 us with these requests.
constexpr std::int64_t kMostRowsWithoutRequests = 4;

// Divides rows into tiles, as evenly as possible.
struct RowTiles {
  Range rows;
  std::int64_t count;

  RowTiles(Range of, int most) : rows(of), count(ceil_div(of.end - of.begin, most)) {}

  [[nodiscard]] Range tile(std::int64_t at) const {
    const std::int64_t size = (rows.end - rows.begin) / count;
    const std::int64_t wide = (rows.end - rows.begin) % count;
    const std::int64_t begin = rows.begin + at * size + std::min(at, wide);
    return {begin, begin + size + (at < wide ? 1 : 0)};
  }
};

// The products of one group of rows with one chunk of the inner axis.
class ChunkRunner {
 public:
  ChunkRunner(const BlockProduct& product, const Operands& operands, Range rows, Range inner, std::int64_t share = 0)
      : product_(product),
        matrix_(product.matrix),
        tiles_(rows, product.tile_rows),
        inner_(inner),
        source_(reinterpret_cast<const float*>(*operands.reads[0].bytes)),
        weights_(reinterpret_cast<const float*>(*operands.reads[1].bytes)),
        bias_(product.has_bias ? reinterpret_cast<const float*>(*operands.reads[2].bytes) : nullptr),
        result_(reinterpret_cast<float*>(*operands.writes[0].bytes)),
        copy_(reinterpret_cast<float*>(operands.scratch) + share * product.elements_of_copy()) {}

  // One tile of rows with all columns, on the calling thread. Requires: it is the only one.
  void run_alone(bool fetches_weights) {
    fetches_weights_ = fetches_weights;
    if (!product_.is_direct()) copy_tile(tiles_.rows);
    for (std::int64_t pair = 0; pair < product_.pairs(); ++pair) run_tiles(pair, 0);
  }

  void run(Team& team) {
    if (!product_.is_direct()) {
      run_parts(team, tiles_.count, [&](Range tiles) {
        for (std::int64_t at = tiles.begin; at < tiles.end; ++at) copy_tile(tiles_.tile(at));
      });
    }
    run_parts(team, product_.pairs() * tiles_.count, [&](Range tiles) {
      for (std::int64_t at = tiles.begin; at < tiles.end; ++at) run_tiles(at / tiles_.count, at % tiles_.count);
    });
  }

 private:
  template <typename Part>
  void run_parts(Team& team, std::int64_t count, const Part& part) const {
    run_shares(team, product_.threads, [&](int share) {
      part(Range{count * share / product_.threads, count * (share + 1) / product_.threads});
      return RunCode::ok;
    });
  }

  [[nodiscard]] std::int64_t blocks() const { return inner_.end - inner_.begin; }

  // Where the copy of a tile is: [block][row][lane].
  [[nodiscard]] float* copy_of(Range rows) const {
    return copy_ + (rows.begin - tiles_.rows.begin) * blocks() * matrix_.lanes;
  }

  void copy_tile(Range rows) const {
    const std::int64_t lanes = matrix_.lanes;
    float* to = copy_of(rows);
    for (std::int64_t block = inner_.begin; block < inner_.end; ++block) {
      const std::int64_t used = std::min(lanes, matrix_.inner - block * lanes);
      const float* from = source_ + rows.begin * matrix_.inner + block * lanes;
      for (std::int64_t row = rows.begin; row < rows.end; ++row, from += matrix_.inner, to += lanes) {
        std::copy_n(from, used, to);
        std::fill_n(to + used, lanes - used, 0.0F);
      }
    }
  }

  // The blocks of columns of a pair, in as few tiles as there are functions for.
  void run_tiles(std::int64_t pair, std::int64_t at) {
    const std::int64_t end = std::min((pair + 1) * product_.tile_columns, matrix_.blocks());
    for (std::int64_t first = pair * product_.tile_columns; first < end;) {
      const std::int64_t left = end - first;
      const std::int64_t count = left < kMostResults ? std::min<std::int64_t>(left, 2) : product_.tile_columns;
      run_tile(first, count, at);
      first += count;
    }
  }

  void run_tile(std::int64_t first, std::int64_t count, std::int64_t at) {
    const Range rows = tiles_.tile(at);
    const std::int64_t lanes = matrix_.lanes;
    alignas(64) std::array<float, kMostSums> sums;                  // NOLINT(*-member-init)
    alignas(64) std::array<float, kMostResults * kMostLanes> bias;  // NOLINT(*-member-init)
    const Range columns{first * lanes, std::min((first + count) * lanes, matrix_.columns)};
    const bool is_first = inner_.begin == 0;
    if (is_first) {
      bias.fill(0);
      if (bias_ != nullptr) std::copy_n(bias_ + columns.begin, columns.end - columns.begin, bias.data());
    } else {
      load_sums(rows, columns, sums.data());
    }
    TileWork work{.source = product_.is_direct() ? source_ + rows.begin * matrix_.inner : copy_of(rows),
                  .weights = weights_ + first * matrix_.elements_of_block() + inner_.begin * lanes * lanes,
                  .sums = sums.data(),
                  .bias = is_first ? bias.data() : nullptr,
                  .blocks = blocks(),
                  .block_step = (rows.end - rows.begin) * lanes,
                  .result_step = matrix_.elements_of_block(),
                  .fetches_weights = fetches_weights_ && at == 0 && rows.end - rows.begin > kMostRowsWithoutRequests};
    function_of(count, rows.end - rows.begin)(work);
    store_sums(rows, columns, sums.data());
  }

  [[nodiscard]] TileFunction function_of(std::int64_t blocks, std::int64_t rows) const {
    if (blocks == kMostResults) return product_.row_function;
    return product_.functions[static_cast<std::size_t>(blocks) - 1][static_cast<std::size_t>(rows)];
  }

  // Calls copy(element of the result, element of `sums`, count) for the columns of a tile that the matrix has.
  template <typename Copy>
  void for_each_row(Range rows, Range columns, Copy copy) const {
    const std::int64_t lanes = matrix_.lanes;
    std::int64_t of_sums = 0;
    for (std::int64_t begin = columns.begin; begin < columns.end; begin += lanes) {
      const std::int64_t used = std::min(lanes, columns.end - begin);
      for (std::int64_t row = rows.begin; row < rows.end; ++row, of_sums += lanes) {
        copy(row * matrix_.columns + begin, of_sums, used);
      }
    }
  }

  void load_sums(Range rows, Range columns, float* sums) const {
    for_each_row(rows, columns, [&](std::int64_t at, std::int64_t of_sums, std::int64_t used) {
      std::copy_n(result_ + at, used, sums + of_sums);
      std::fill_n(sums + of_sums + used, matrix_.lanes - used, 0.0F);
    });
  }

  void store_sums(Range rows, Range columns, const float* sums) const {
    for_each_row(rows, columns, [&](std::int64_t at, std::int64_t of_sums, std::int64_t used) {
      std::copy_n(sums + of_sums, used, result_ + at);
    });
  }

  const BlockProduct& product_;
  const BlockMatrix& matrix_;
  RowTiles tiles_;
  Range inner_;  // blocks
  const float* source_;
  const float* weights_;
  const float* bias_;
  float* result_;
  float* copy_;
  bool fetches_weights_ = true;  // of the first tile
};

// Where the epilogue reads an operand for a row.
FusedRow::Place place_of(RowEpilogue::Reach reach, const BoundTensor& operand, std::int64_t first) {
  constexpr std::int64_t kUnit = sizeof(float);
  switch (reach) {
    case RowEpilogue::Reach::one: return {*operand.bytes, 0, kUnit};
    case RowEpilogue::Reach::row: return {*operand.bytes, 1, kUnit};
    case RowEpilogue::Reach::whole: break;
  }
  return {*operand.bytes + first * kUnit, 1, kUnit};
}

RunCode run_epilogue_of_row(const BlockProduct& product, const Operands& operands, std::int64_t row,
                            FusedSlots& slots) {
  const RowEpilogue& epilogue = *product.epilogue;
  const std::int64_t columns = product.matrix.columns;
  const std::span<const BoundTensor> others = operands.reads.subspan(kProductOperands);
  FusedRow fused{.result = place_of(RowEpilogue::Reach::whole, operands.writes[0], row * columns)};
  fused.operands[0] = fused.result;  // in place
  for (std::size_t at = 0; at < others.size(); ++at) {
    fused.operands[at + 1] = place_of(epilogue.operands[at], others[at], row * columns);
  }
  for (std::int64_t at = 0; at < columns; at += kFusedBlock) {
    const RunCode code = run_fused(epilogue.steps, fused, {at, std::min(at + kFusedBlock, columns)}, slots);
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

RunCode run_epilogue_of_rows(const BlockProduct& product, const Operands& operands, Range rows) {
  FusedSlots slots;
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const RunCode code = run_epilogue_of_row(product, operands, row, slots);
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

RunCode run_epilogue_of_group(const BlockProduct& product, const Operands& operands, Range rows, Team& team) {
  const std::int64_t count = rows.end - rows.begin;
  return run_shares(team, product.threads, [&](int share) {
    return run_epilogue_of_rows(
        product, operands,
        {rows.begin + count * share / product.threads, rows.begin + count * (share + 1) / product.threads});
  });
}

// Finishes one tile of rows after another, so that its results are in the first caches for the epilogue.
RunCode run_by_tile(const BlockProduct& product, const Operands& operands, Team& team) {
  const RowTiles tiles({0, product.rows}, product.tile_rows);
  const Range inner{0, product.matrix.inner_blocks()};
  return run_shares(team, product.threads, [&](int share) {
    const std::int64_t first = tiles.count * share / product.threads;
    const std::int64_t end = tiles.count * (share + 1) / product.threads;
    for (std::int64_t at = first; at < end; ++at) {
      const Range rows = tiles.tile(at);
      ChunkRunner(product, operands, rows, inner, share).run_alone(at == first);
      if (!product.epilogue) continue;
      const RunCode code = run_epilogue_of_rows(product, operands, rows);
      if (code != RunCode::ok) return code;
    }
    return RunCode::ok;
  });
}

std::optional<RowEpilogue::Reach> row_reach(const Shape& operand, const Shape& result) {
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  const std::vector<std::int64_t>& extents = operand.extents();
  if (std::ranges::all_of(extents, is_one)) return RowEpilogue::Reach::one;
  if (operand == result) return RowEpilogue::Reach::whole;
  const bool is_row = result.rank() > 0 && extents.back() == result[result.rank() - 1] &&
                      operand.rank() <= result.rank() && std::all_of(extents.begin(), extents.end() - 1, is_one);
  return is_row ? std::optional(RowEpilogue::Reach::row) : std::nullopt;
}

// Whether the matrix stays in the second cache, with a tile of rows beside it, and each thread has some tiles.
bool stays_in_cache(const BlockProduct& product, int threads, const CacheSizes& caches) {
  constexpr std::int64_t kMostInner = 1536;
  constexpr std::int64_t kLeastTiles = 2;  // of a thread
  return !product.is_direct() && product.tile_rows > 1 && product.matrix.elements() <= kProductMatrix.floats(caches) &&
         product.matrix.inner <= kMostInner && product.rows >= kLeastTiles * threads * product.tile_rows;
}

}  // namespace

std::optional<RowEpilogue> row_epilogue(const Graph& program) {
  const auto is_other = [](const Tensor& tensor) { return tensor.dtype != DType::f32; };
  if (std::ranges::any_of(program.tensors(), is_other)) return std::nullopt;
  RowEpilogue made{.steps = fused_steps(program), .operands = {}};
  if (made.steps.empty()) return std::nullopt;
  const Shape& result = program.tensor(program.outputs()[0]).shape;
  for (TensorId input : program.inputs()) {
    if (input == program.inputs()[0]) continue;
    const std::optional<RowEpilogue::Reach> reach = row_reach(program.tensor(input).shape, result);
    if (!reach) return std::nullopt;
    made.operands.push_back(*reach);
  }
  return made;
}

std::int64_t BlockProduct::elements_of_copy() const {
  return is_direct() ? 0 : (is_by_tile ? tile_rows : group_rows) * chunk * matrix.lanes;
}

Bytes BlockProduct::scratch() const {
  return Bytes((is_by_tile ? threads : 1) * elements_of_copy() * std::int64_t{sizeof(float)});
}

void set_division(BlockProduct& product, int threads, const CacheSizes& caches, bool is_by_row) {
  const BlockMatrix& matrix = product.matrix;
  const std::int64_t lanes = matrix.lanes;
  product.tile_columns = matrix.blocks() == 1 ? 1 : 2;
  const std::int64_t most_rows = most_columns(matrix.lanes, product.tile_columns, 1);
  product.tile_rows = static_cast<int>(std::min(is_by_row ? 1 : most_rows, product.rows));
  if (product.tile_rows == 1 && matrix.blocks() >= kMostResults) product.tile_columns = kMostResults;
  product.is_by_tile = stays_in_cache(product, threads, caches);
  if (product.is_direct() || product.is_by_tile) {
    product.chunk = matrix.inner_blocks();
    product.group_rows = product.rows;
  } else {
    const std::int64_t most_copied = kMostProductCopy.floats(caches);
    const std::int64_t most_inner = std::max(kLeastChunk, most_copied / product.rows) / lanes;
    product.chunk = ceil_div(matrix.inner_blocks(), ceil_div(matrix.inner_blocks(), most_inner));
    const std::int64_t of_matrix = product.chunk * lanes * matrix.blocks() * lanes;
    const std::int64_t elements = std::clamp(of_matrix, kLeastProductCopy.floats(caches), most_copied);
    const std::int64_t most = elements / (product.chunk * lanes);
    const std::int64_t groups = ceil_div(product.rows, std::max<std::int64_t>(most, product.tile_rows));
    product.group_rows =
        std::min(ceil_div(ceil_div(product.rows, groups), product.tile_rows) * product.tile_rows, product.rows);
  }
  const double products = static_cast<double>(matrix.elements()) * static_cast<double>(product.rows);
  const std::int64_t tiles = product.pairs() * ceil_div(product.group_rows, product.tile_rows);
  product.threads = threads_with_work(threads, tiles, products / kProductsPerOperation);
  product.row_function = tile_function(matrix.lanes, TileKind::blocks, {kMostResults, 1, 1, 1});
  for (int columns = 1; columns <= std::min(product.tile_columns, 2); ++columns) {
    for (int rows = 1; rows <= product.tile_rows; ++rows) {
      product.functions[static_cast<std::size_t>(columns) - 1][static_cast<std::size_t>(rows)] =
          tile_function(matrix.lanes, TileKind::blocks, {columns, 1, rows, 1});
    }
  }
}

RunCode run_product(const BlockProduct& product, const Operands& operands, Team& team) {
  if (product.is_by_tile) return run_by_tile(product, operands, team);
  for (std::int64_t first = 0; first < product.rows; first += product.group_rows) {
    const Range rows{first, std::min(first + product.group_rows, product.rows)};
    for (std::int64_t begin = 0; begin < product.matrix.inner_blocks(); begin += product.chunk) {
      const Range inner{begin, std::min(begin + product.chunk, product.matrix.inner_blocks())};
      ChunkRunner(product, operands, rows, inner).run(team);
    }
    if (!product.epilogue) continue;
    const RunCode code = run_epilogue_of_group(product, operands, rows, team);
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

}  // namespace lowtide::kernels_internal
