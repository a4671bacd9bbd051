// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/netdef/edit_net.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/rewrite/assigned_blobs.h"

namespace lowtide {

// The rule of Lowtide itself in ShareNetOptions::rule.
inline constexpr std::string_view kLowtideRule = "lowtide";
// Nothing shares memory. Only with ShareNetOptions::free_dead.
inline constexpr std::string_view kNoRule = "none";

// The order of the operators for the rules caffe2_interference_*, as Caffe2's ordering functions.
enum class ShareOrder : std::uint8_t {
  as_given,      // that of the net, which is one of those that topological_sort_traversal may give
  longest_path,  // topological_sort_traversal_longest_path
};
template <>
inline constexpr auto kEnumNames<ShareOrder> = enum_names<ShareOrder>({{ShareOrder::as_given, "as_given"},
                                                                       {ShareOrder::longest_path, "longest_path"}});

// Which names are gradients, beside those that ShareNetOptions::gradients lists.
enum class GradientNames : std::uint8_t {
  suffix,    // those that end in "_grad", as in the last versions of Caffe2
  anywhere,  // those that have "_grad" in them, such as "_fc5_grad_autosplit_0", as in versions before August 2017
};
template <>
inline constexpr auto kEnumNames<GradientNames> = enum_names<GradientNames>({{GradientNames::suffix, "suffix"},
                                                                             {GradientNames::anywhere, "anywhere"}});

struct ShareNetOptions {
  std::string rule = std::string(kLowtideRule);   // or a baseline of Caffe2, such as "caffe2_dag"
  std::optional<std::vector<std::string>> heads;  // BaselineOptions::heads, as names of blobs
  std::vector<std::string> keep;                  // blobs that keep their names, in addition to external ones
  std::string namescope;                          // in front of the names of shared buffers
  bool share_activations = false;                 // gradients may move into dead results of the forward pass
  std::vector<std::string> gradients = {};        // for caffe2_gradients*: more blobs that are gradients
  GradientNames gradient_names = GradientNames::suffix;
  bool free_dead = false;                   // add an operator Free behind the last reader of each other blob
  std::vector<std::string> free_only = {};  // with free_dead: only for these blobs; empty: for all
  std::int64_t effort = 5'000'000;          // work units for a search over buffers
  ShareOrder order = ShareOrder::as_given;  // only for caffe2_interference_*
  std::vector<AssignedBlob> assigned;       // BaselineOptions::assigned, row by row; only for the same rules
};

struct SharedNet {
  ProtoMessage net;
  BlobNames names;            // what was renamed
  bool is_reordered = false;  // the operators have another order than before
  std::int64_t freed = 0;     // Free operators that were added
  // A name of a shared buffer that the net already has, so it was planned before. Then the net is as it was.
  std::optional<std::string> already_has;
  BaselineOutcome outcome;
  // What Caffe2's functions take as arguments, for the rules caffe2_dag* and caffe2_gradients*. Names of blobs, sorted.
  std::vector<std::string> gradients = {};     // that share
  std::vector<std::string> hosts = {};         // results of the forward pass into which gradients may move
  std::vector<std::string> shareable = {};     // all that may share; for gradients, both of the above
  std::vector<std::uint32_t> op_indices = {};  // operators that take part, counted from 0, ascending
};

// Whether the rule ignores the sizes of blobs.
[[nodiscard]] bool ignores_sizes(std::string_view rule);

// Names of the rules that share: lowtide, then the baselines of Caffe2.
[[nodiscard]] std::vector<std::string> share_rules();

// Renames the blobs of a net so that they share memory by a rule, as Caffe2's memonger does. Shared buffers are named
// "__m<k>_shared", those of the interference rules as their last blob, and those of gradients that move into another
// blob as that blob. External inputs and outputs keep their names, and so do blobs with an alias or with a meaning in
// a nested net. Requires: `graph` was made from `net`.
//
// The rule `lowtide` also chooses an order of the operators: the one with the lowest peak in which no name is written
// again before its readers have run, and in which operators that may have effects of their own keep their order. In
// this order, it finds the least total of whole buffers (caffe2_interference_exact), or keeps the order of the net if
// that needs no more.
//
// The interference rules write the operators in ShareNetOptions::order. No name is written again before its readers
// have run.
//
// The gradients of caffe2_gradients* are the blobs whose names end in "_grad" (GradientNames) and begin with the
// namescope, except for those of external inputs, and the blobs of ShareNetOptions::gradients. Activations are results
// `b` of operators that read `b_w`, except for the last two.
//
// Free operators release neither blobs to be kept nor external outputs (add_free_ops).
//
// The result, with its Free operators, is compared with the net: data flow, operators and results in place are the same
// up to the names.
// Errors: invalid (an unknown rule or blob; gradients or free_only without the rule or option that uses them; the rule
// none without free_dead; a fault of the assigned slots, whose place is that of a row; an order or
// assigned slots for another rule); unsupported (a net with Free operators; a rule for sequences and a net of
// a type that runs operators in parallel); those of apply_baseline and plan_graph.
[[nodiscard]] Result<SharedNet> share_net(const ProtoMessage& net, const NetGraph& graph,
                                          const ShareNetOptions& options = {});

}  // namespace lowtide
