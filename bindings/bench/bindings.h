// What the files of this module share: one function per subject that binds it, and how arguments are refused.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace unjank::bench {

void bind_queue(nanobind::module_& module);
void bind_heap(nanobind::module_& module);
void bind_side(nanobind::module_& module);
void bind_pingpong(nanobind::module_& module);
void bind_core_pair(nanobind::module_& module);
void bind_atomics(nanobind::module_& module);
void bind_busy_crew(nanobind::module_& module);

using Unlocked = nanobind::call_guard<nanobind::gil_scoped_release>;

[[noreturn]] inline void refuse(std::string_view what, std::string_view got, std::string_view choice) {
  throw std::invalid_argument(std::string(what) + " is one of " + std::string(choice) + ", not '" +
                              std::string(got) + "'");
}

// Nothing measured is not zero nanoseconds.
inline void require_some(std::size_t count, const char* what) {
  if (count == 0) throw std::invalid_argument(std::string(what) + " must be at least 1");
}

// The value whose name_of() is `name`.
template <class Enum>
Enum named(std::string_view what, std::string_view name, std::initializer_list<Enum> values) {
  std::string choice;
  for (const Enum value : values) {
    if (name == name_of(value)) return value;
    choice += (choice.empty() ? "" : ", ") + std::string(name_of(value));
  }
  refuse(what, name, choice);
}

}  // namespace unjank::bench
