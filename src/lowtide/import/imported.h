// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide {

class ByteSource;
struct ImportOptions;
struct ImportedModel;

// A format of models beside ONNX, which a caller adds (ImportOptions::formats).
struct ModelFormat {
  // Whether the file has this format, by its first bytes, and by its name if they say nothing. Errors: io.
  Result<bool> (*matches)(const ByteSource& file, std::string_view path) = nullptr;
  // Errors: those of import_model(), without the path in the place.
  Result<ImportedModel> (*import)(const ByteSource& file, const ImportOptions& options) = nullptr;
  bool is_of_earlier_system = false;  // whether the file is a NetDef or a GraphDef
};

// What a caller says about the inputs of a model. Names are those of the model, as they are or with the escapes of
// `quoted` (base/quote.h).
struct ImportOptions {
  std::map<std::string, std::int64_t> dims;                 // symbol -> extent, such as {"batch", 8}
  std::map<std::string, std::vector<std::int64_t>> shapes;  // graph input -> extents; -1 keeps the extent of the file
  // The sizes of a stored plan, in the forms of `dims` and `shapes`. They bind what those leave open. An extent that is
  // bounded by `at_most` stays open. A name that the model does not have is an error.
  std::map<std::string, std::int64_t> planned_dims = {};
  std::map<std::string, std::vector<std::int64_t>> planned_shapes = {};
  // The shapes of inputs that the caller has, which bind what is open otherwise. Each entry is one input. It has the
  // names that the input may have, and the longest one that the model has counts. Entries of other inputs have no
  // effect. An extent that is bounded by `at_most` stays open, and is compared with the bound.
  std::vector<std::map<std::string, std::vector<std::int64_t>>> given = {};
  // The element types of the inputs of `given`, by the same names. Only formats that do not have them in their files
  // use them, and take f32 otherwise.
  std::map<std::string, DType> given_types = {};
  // Upper bounds of extents that are not known before a run, or of open extents of inputs: of a symbol such as
  // "frames", of an extent of a tensor such as "pos[0]", or of the only such extent of a tensor, such as "pos". The
  // plan holds for all sizes up to the bound, and a run ends with an error before it exceeds one.
  std::map<std::string, std::int64_t> at_most = {};
  // Whether a model is imported although sizes are not known. The result can only be inspected (ImportedModel::open).
  bool keeps_open_sizes = false;
  bool keeps_declared_extents = false;  // whether ImportedModel::declared_extents is filled
  // Inputs that have a default value in the file, and get another one from the caller. Otherwise they are constants.
  // Other names have no effect (check_overrides). Without escapes.
  std::set<std::string> overrides = {};
  // The formats that are read beside ONNX, asked in this order, such as earlier_formats(). They must outlive the call.
  std::span<const ModelFormat> formats = {};
  // For these formats, if their files do not have the sizes of tensors. `shapes` may name any tensor. Paths of files;
  // empty: none.
  std::string init_net = {};    // a model that fills the parameters; their types follow from it
  std::string blob_types = {};  // a CSV file of types by name
  bool unit_sizes = false;      // tensors of unknown size count as one byte; otherwise the model is refused
  // Whether operators of these formats become operators of ONNX, which kernels can run. open_model() sets this.
  bool to_run = false;
  bool makes_up_parameters = false;  // with to_run: parameters that random operators fill are inputs, and not refused
};

// What some files say about the memory of their tensors, beside the graph.
struct StorageFacts {
  std::vector<std::vector<TensorId>> colocated;  // tensors that have one place, in order of their writes
  std::vector<TensorId> unshared;                // tensors whose memory must not be shared
  IdVector<TensorId, std::uint32_t> devices;     // index into device_names
  std::vector<std::string> device_names;
};

// What is not known of a model because its inputs are open, or because sizes depend on data.
struct OpenSizes {
  struct OpenTensor {
    TensorId tensor;
    // Each is a number, a symbol, an upper bound such as "<=20", or "?". nullopt: the rank is not known.
    std::optional<std::vector<std::string>> extents;
    // Whole symbols of unknown extents, as the file writes them; empty for any other extent. As many as `extents`.
    std::vector<std::string> symbols;
  };
  // The tensors of the graph, without those of bodies, whose size is not known, by id. Their shape in the graph, and
  // those of tensors in bodies, mean nothing.
  std::vector<OpenTensor> tensors;
  std::string reason;  // the message of the error without ImportOptions::keeps_open_sizes
};

// The content of a model file.
struct ImportedModel {
  Graph graph;
  std::int64_t nodes = 0;  // in all graphs of the file after inlining, including Constant nodes; `graph` has none
  std::string sha256;      // of the bytes of the file, in lower-case hex
  // "onnx", for earlier_formats() "netdef", "netdef_text", "graphdef" or "graphdef_text", for tflite_formats() "tflite"
  std::string format;
  // remarks for the user, for example that nodes were sorted
  std::vector<std::string> notes;
  // Where the bytes of the constants are. Every constant of the graph and its bodies has a source there, unless it
  // stands for a sparse tensor that is too large. The first file is the model. A source that no tensor uses is empty.
  ConstantTable constants = {};
  // Inputs that have a default value in the file and are constants of the graph, because ImportOptions::overrides does
  // not name them.
  std::vector<std::string> default_inputs = {};
  std::string hints = {};  // the value of kHintsKey (plan/hints.h) in the metadata of the file, as it is
  std::optional<StorageFacts> storage = std::nullopt;  // of a NetDef
  // The shapes of ImportOptions::given of inputs whose size is open in the file, with -1 for an extent that has an
  // upper bound. As ImportOptions::shapes, they give the same model.
  std::map<std::string, std::vector<std::int64_t>> given_shapes = {};
  // Only with ImportOptions::keeps_open_sizes, and if a size is not known.
  std::optional<OpenSizes> open = std::nullopt;
  // Only with ImportOptions::keeps_declared_extents, for ONNX: the tensors for which the main graph declares a rank and
  // all extents, by name. Each extent is a number or a symbol.
  std::map<std::string, std::vector<std::string>> declared_extents = {};
};

// What is read from the file of an ordering problem.
struct OrderFileOptions {
  bool with_costs = false;  // `cost` of every node, and `fixed_bytes`; otherwise both are ignored
  bool with_units = false;  // the time of a unit of cost, in `units`; otherwise it is ignored
};

// An ordering problem: a graph without operators, whose outputs are live until their last readers have run.
struct ImportedOrderGraph {
  Graph graph;
  IdVector<NodeId, std::int64_t> index;  // number of each node in the file, counted from 0
  std::vector<std::string> notes;        // as in ImportedModel
  // With OrderFileOptions::with_costs; otherwise no costs, and 0 bytes. All costs together are at most kMaxTotalCost.
  IdVector<NodeId, std::int64_t> costs = {};
  Bytes fixed_bytes = {};  // live at all times, beside the outputs of nodes
  // With OrderFileOptions::with_units, if the file states it: the nanoseconds of one unit of cost, at least 1.
  std::optional<std::int64_t> nanoseconds_per_cost = std::nullopt;
  // All that the file states about its nodes, with a budget of 0. Its first entries are the nodes of the graph, in the
  // same order, and parts, views and states follow. Costs are 0 without OrderFileOptions::with_costs. States have 0
  // bytes here, because fixed_bytes contains them.
  BudgetProblem problem = {};
  bool has_steps = false;  // whether there is more than nodes with one output, their edges and costs
  // By entry of `problem`: for the output of a node or a part, its number in the node of the file, counted from 0.
  IdVector<NodeId, std::int64_t> output_numbers = {};
  IdVector<NodeId, std::string> names = {};    // of all entries of `problem`
  IdVector<NodeId, std::string> origins = {};  // module and source line of each node, if the file states them
  IdVector<NodeId, std::string> phases = {};   // of each node, such as "forward"; empty if the file states none
};

}  // namespace lowtide
