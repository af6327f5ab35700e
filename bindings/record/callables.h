// What a message calls, as a number of the recorder's dictionary.
#pragma once

#include <Python.h>

#include <cstdint>

#include "places.h"

namespace unjank::record {

/// Ledger.post with its file and first line; the class of an object that is called; print for a builtin.
std::uint32_t callable_site(ThreadPlaces& places, PyObject* callable);
/// The class of an object: Clock.
std::uint32_t class_site(ThreadPlaces& places, PyObject* object);
/// The method that handles its messages: Clock.handle_message.
std::uint32_t handling_site(ThreadPlaces& places, PyObject* handler);

}  // namespace unjank::record
