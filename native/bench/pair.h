// Runs two sides of a measurement at once: as two threads of this process, or as two processes of their own.
#pragma once

#include <functional>

namespace unjank::bench {

// One side's whole work; 0 or an errno. ECANCELED: it stopped because the other did. In a process of its own it may not
// allocate, lock or throw: the child of a program with several threads has only what is fit for a signal handler.
using SideWork = std::function<int()>;

// Both throw std::system_error with the first side's errno, or the second's if the first only followed.
void run_as_threads(const SideWork& first, const SideWork& second);

// A side that dies takes the other with it, and so does this process.
void run_as_processes(const SideWork& first, const SideWork& second);

}  // namespace unjank::bench
