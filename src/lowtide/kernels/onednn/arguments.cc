// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/arguments.h"

#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {
namespace {

constexpr Argument kSource{DNNL_ARG_SRC, dnnl_query_src_md, Argument::From::read, 0};
constexpr Argument kWeights{DNNL_ARG_WEIGHTS, dnnl_query_weights_md, Argument::From::read, 1};
constexpr Argument kBias{DNNL_ARG_BIAS, dnnl_query_weights_md, Argument::From::read, 2, 1};
constexpr Argument kResult{DNNL_ARG_DST, dnnl_query_dst_md, Argument::From::write, 0};

// The arguments of a product or a convolution.
std::vector<Argument> arguments_with(bool has_bias, const PostOps& after) {
  std::vector<Argument> arguments = {kSource, kWeights, kResult};
  if (has_bias) arguments.push_back(kBias);
  for (std::size_t at = 0; at < after.size(); ++at) {
    if (after[at].kind != PostOp::Kind::binary) continue;
    const int name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(at)) | DNNL_ARG_SRC_1;
    arguments.push_back({name, dnnl_query_exec_arg_md, Argument::From::read, after[at].operand, name});
  }
  return arguments;
}

}  // namespace

std::vector<Argument> arguments_of(const Convolution& convolution) {
  return arguments_with(convolution.has_bias, convolution.after);
}
std::vector<Argument> arguments_of(const Product& product) {
  return arguments_with(!product.bias.empty(), product.after);
}
std::vector<Argument> arguments_of(const Reordering& /*reordering*/) { return {kSource, kResult}; }

}  // namespace lowtide::kernels_internal
