// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "call.h"

#include <nanobind/stl/string.h>

#include <string>

#include "lowtide/base/check.h"

namespace lowtide::python {
namespace {

void raise(const Error& error) {
  const nb::object exception = nb::module_::import_("lowtide._errors")
                                   .attr("error_of")(std::string(to_string(error.code)), error.message, error.place);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      raise(failure.error());
    } catch (const InvariantViolation& bug) {
      PyErr_SetString(nb::module_::import_("lowtide._errors").attr("InternalError").ptr(), bug.what());
    }
  } catch (nb::python_error& raised) {
    raised.restore();  // Python code above has handled a signal, and Ctrl-C matters more than the error
  }
}

}  // namespace

void register_exceptions() { nb::register_exception_translator(translate); }

}  // namespace lowtide::python
