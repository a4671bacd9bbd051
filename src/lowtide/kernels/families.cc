// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/families.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/kernels/blocks/concat.h"
#include "lowtide/kernels/blocks/convolution.h"
#include "lowtide/kernels/blocks/pool.h"
#include "lowtide/kernels/blocks/product.h"
#include "lowtide/kernels/blocks/reordering.h"
#include "lowtide/kernels/blocks/transpose.h"
#include "lowtide/kernels/common/separate.h"
#include "lowtide/kernels/library/library.h"
#include "lowtide/kernels/plain/attention.h"
#include "lowtide/kernels/plain/chain.h"
#include "lowtide/kernels/plain/convolution.h"
#include "lowtide/kernels/plain/elementwise.h"
#include "lowtide/kernels/plain/folding.h"
#include "lowtide/kernels/plain/grid.h"
#include "lowtide/kernels/plain/index.h"
#include "lowtide/kernels/plain/loss.h"
#include "lowtide/kernels/plain/movement.h"
#include "lowtide/kernels/plain/normalize.h"
#include "lowtide/kernels/plain/order.h"
#include "lowtide/kernels/plain/pooling.h"
#include "lowtide/kernels/plain/products.h"
#include "lowtide/kernels/plain/quantized.h"
#include "lowtide/kernels/plain/recurrent.h"
#include "lowtide/kernels/plain/reduce.h"
#include "lowtide/kernels/plain/regions.h"
#include "lowtide/kernels/plain/resize.h"
#include "lowtide/kernels/plain/rotary.h"
#include "lowtide/kernels/plain/sampling.h"
#include "lowtide/kernels/plain/sequence.h"
#include "lowtide/kernels/plain/signal.h"
#include "lowtide/kernels/plain/softmax.h"

namespace lowtide::kernels_internal {

std::span<const Family> families() {
  static const std::vector<Family> all_families = [] {
    std::vector<Family> all = {block_convolution_family(), block_pool_family(),       block_concat_family(),
                               block_product_family(),     block_reordering_family(), block_transpose_family()};
    const std::span<const Family> library = library_families();
    all.insert(all.end(), library.begin(), library.end());
    all.insert(all.end(), {chain_family(),
                           separate_family(),
                           folding_family(),
                           unary_family(),
                           binary_family(),
                           select_family(),
                           cast_family(),
                           reshape_family(),
                           movement_family(),
                           slice_family(),
                           generate_family(),
                           index_family(),
                           choice_family(),
                           order_family(),
                           boxes_family(),
                           reduce_family(),
                           softmax_family(),
                           normalize_family(),
                           norm_family(),
                           products_family(),
                           attention_family(),
                           fused_attention_family(),
                           rotary_family(),
                           einsum_family(),
                           loss_family(),
                           convolution_family(),
                           transposed_convolution_family(),
                           pooling_family(),
                           sampling_family(),
                           grid_family(),
                           regions_family(),
                           signal_family(),
                           resize_family(),
                           recurrent_family(),
                           sequence_family(),
                           quantize_family(),
                           quantized_product_family(),
                           quantized_convolution_family(),
                           biased_product_family(),
                           biased_convolution_family()});
    return all;
  }();
  return all_families;
}

std::span<const Family* const> families_with(const Operator& op) {
  using Key = std::pair<std::string_view, std::string_view>;  // domain and type
  static const std::map<Key, std::vector<const Family*>> all_operators = [] {
    std::map<Key, std::vector<const Family*>> all;
    for (const Family& family : families()) {
      for (const SupportedOperator& row : family.operators) all[{row.domain, row.type}].push_back(&family);
    }
    return all;
  }();
  const auto found = all_operators.find({op.domain == "ai.onnx" ? "" : std::string_view(op.domain), op.type});
  return found == all_operators.end() ? std::span<const Family* const>() : found->second;
}

}  // namespace lowtide::kernels_internal
