// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/netdef/blob_type.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct NetGraphOptions {
  BlobTypes types;  // of blobs whose types the net does not determine
  // The same without an element type; before `types`. The net must have these blobs.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::set<std::string, std::less<>> parameters;  // external inputs that are constants; others may be as well (Role)
  BlobContents contents = {};                     // of external inputs
  bool unit_sizes = false;  // blobs of unknown type count as one byte; otherwise the net is refused
};

// What a graph of a net does not have.
struct NetFacts {
  IdVector<TensorId, std::string> blob_of;       // the name in the net
  std::vector<std::vector<TensorId>> colocated;  // the tensors of each blob with several, in order of their writes
  // Tensors whose blob has another name (Alias), has another meaning in a nested net, or is a control input. Their
  // memory must not be shared.
  std::vector<TensorId> unshared;
  IdVector<TensorId, std::uint32_t> devices;        // index into device_names
  std::vector<std::string> device_names = {"cpu"};  // "cpu" first
  IdVector<NodeId, std::uint32_t> op_of;            // the number of the operator, counted from 0
  std::string type;                                 // of the net: "simple", "dag", ...; may be empty
  bool has_free = false;                            // the net has Free operators
};

struct NetGraph {
  Graph graph;
  NetFacts facts;
  std::vector<std::string> notes;  // remarks for the user
};

// Turns a net into a graph. A NetDef has names that operators write, possibly again and again. Here each write is a
// tensor.
//
//   FC data,w,b -> fc          tensors data, w, b, fc
//   Relu fc -> fc                      fc@1
//
// The first tensor of a blob has its name, the next one is "fc@1". A blob that is read before an operator writes it is
// an external input:
//   - a constant, if the operators that read it use it as a weight, or if NetGraphOptions::parameters has it
//   - a state, if an operator also writes it; its next content is the last tensor of the blob
//   - otherwise an input
// Operators have the domain "caffe2". An operator with a blob of unknown size has the domain "caffe2.unsized", whose
// operators are not counted (Claims::uncounted). The nets inside an operator are not planned: the operator reads what
// they read. Free operators are left out.
//
// Sizes follow from those of the external inputs by the rules of Caffe2's operators (docs/netdef.md lists them).
// Errors: invalid (a shape of an absent blob, a blob that is neither written before nor an external input, an external
// output that nothing writes, two results of one operator under one name, types that contradict each other, a nested
// net in two encodings); unresolved, which lists blobs of unknown type and the options that set them; over_limit. The
// place is an operator. O(size of the net, log names), and nested nets once per level.
[[nodiscard]] Result<NetGraph> graph_of_net(const ProtoMessage& net, const NetGraphOptions& options = {});

}  // namespace lowtide
