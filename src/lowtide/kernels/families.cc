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
#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/plain/attention/attention.h"
#include "lowtide/kernels/plain/attention/rotary.h"
#include "lowtide/kernels/plain/chains/chain.h"
#include "lowtide/kernels/plain/classical/features.h"
#include "lowtide/kernels/plain/classical/linear.h"
#include "lowtide/kernels/plain/classical/svm.h"
#include "lowtide/kernels/plain/classical/trees.h"
#include "lowtide/kernels/plain/convolution/convolution.h"
#include "lowtide/kernels/plain/convolution/folding.h"
#include "lowtide/kernels/plain/convolution/pooling.h"
#include "lowtide/kernels/plain/convolution/sampling.h"
#include "lowtide/kernels/plain/detection/boxes.h"
#include "lowtide/kernels/plain/detection/roi_align.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/lines/along_axis.h"
#include "lowtide/kernels/plain/lines/signal.h"
#include "lowtide/kernels/plain/movement/movement.h"
#include "lowtide/kernels/plain/normalization/normalize.h"
#include "lowtide/kernels/plain/products/products.h"
#include "lowtide/kernels/plain/quantized/quantized.h"
#include "lowtide/kernels/plain/recurrent/recurrent.h"
#include "lowtide/kernels/plain/reduction/loss.h"
#include "lowtide/kernels/plain/reduction/reduce.h"
#include "lowtide/kernels/plain/reduction/softmax.h"
#include "lowtide/kernels/plain/resampling/grid_sample.h"
#include "lowtide/kernels/plain/resampling/resize.h"
#include "lowtide/kernels/plain/selection/gather_scatter.h"
#include "lowtide/kernels/plain/selection/sorting.h"

namespace lowtide::kernels_internal {

std::span<const Family> families() {
  static const std::vector<Family> all_families = [] {
    std::vector<Family> all = {block_convolution_family(), block_pool_family(),       block_concat_family(),
                               block_product_family(),     block_reordering_family(), block_transpose_family()};
    const std::span<const Family> library = onednn_families();
    all.insert(all.end(), library.begin(), library.end());
    all.insert(all.end(), {chain_family(),
                           separate_family(),
                           folding_family(),
                           unary_family(),
                           binary_family(),
                           select_family(),
                           four_bit_cast_family(),
                           cast_family(),
                           reshape_family(),
                           movement_family(),
                           slice_family(),
                           generate_family(),
                           gather_scatter_family(),
                           choose_by_value_family(),
                           sorting_family(),
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
                           grid_sample_family(),
                           roi_align_family(),
                           signal_family(),
                           resize_family(),
                           recurrent_family(),
                           along_axis_family(),
                           quantize_family(),
                           quantized_product_family(),
                           quantized_convolution_family(),
                           biased_product_family(),
                           biased_convolution_family(),
                           tree_family(),
                           linear_family(),
                           svm_family(),
                           feature_family(),
                           encoder_family()});
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
