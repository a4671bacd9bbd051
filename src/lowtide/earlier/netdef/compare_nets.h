// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide {

struct NetComparison {
  // The nets have the same operators, and each of them reads the same results of the same operators or the same blobs
  // of the caller. Each external output is the same result.
  bool is_same = false;
  bool has_same_order = false;           // only if is_same
  std::int64_t renamed = 0;              // results that have another name in the second net; only with the same order
  std::vector<std::string> differences;  // sentences, at most kMaxNetDifferences; empty if is_same
  std::int64_t left_out_differences = 0;
};

inline constexpr std::size_t kMaxNetDifferences = 20;

struct CompareNetsOptions {
  // The nets are those of net_of_graph with NetOfGraphOptions::for_comparison, whose order has no meaning.
  bool are_graphs = false;
  // Operators that may have effects must run in the same order. Off: only their inputs count.
  bool effects_keep_order = true;
};

// Compares two nets up to the names of the results that they do not return. Caffe2's verify_graph_equality compares
// operators, devices, engines and writers, and verify_inplace_blobs which operators write over an input; this function
// also compares which output is read, what is read from outside, control inputs, external outputs, arguments and nested
// nets, with the results in place in them. Blobs of the caller must have the same name, and end with the same content.
// The arguments "<blob>.rename" and the operators Free do not count, but what a Free operator released must not be
// read.
//
// The operators may have another order. Two operators with equal inputs count as one value only if each run of them
// gives the same result. A random operator, a reader, or an operator that Lowtide does not know is a value of its own.
// It is the operator of the other net whose results have its names, or else the one that is as late among its equals.
// Errors: those of reading a nested net; over_limit (limits::kMaxBodyNesting). O(size of the nets, log).
[[nodiscard]] Result<NetComparison> compare_nets(const ProtoMessage& first, const ProtoMessage& second,
                                                 const CompareNetsOptions& options = {});

}  // namespace lowtide
