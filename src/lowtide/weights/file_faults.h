// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide {

// Protects this process from files that become shorter while their constants are mapped. Without this, the system ends
// the process with SIGBUS when a kernel reads what is gone.
//
// Installs a handler for SIGBUS. If the address is in a mapped file of a ModelWeights, the handler maps zeros from
// there to the end of the file, and the read continues. From then on, ModelWeights::has_lost_bytes() is true, and all
// runs with these weights end with RunCode::file_changed. All other signals go to the handler of before.
//
// A library must not change the signals of its program, so nothing in Lowtide calls this except the command line and
// the Python package. The first 1,024 files that are mapped at a time are protected. Thread-safe; a second call does
// nothing.
void catch_file_faults();

}  // namespace lowtide
