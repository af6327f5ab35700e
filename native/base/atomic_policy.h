// What lock-free code is written over, so that the code that ships is the code that is model-tested.
//
// A policy names three things:
//   Atomic<T>  an atomic variable with std::atomic's load, store, exchange, compare_exchange_strong, fetch_*;
//   Plain<T>   an ordinary variable that several threads reach, one after the other; get() and set();
//   pause()    what a thread calls while it waits for another in a loop.
// Shipping code uses StdPolicy: std::atomic, a bare member, a CPU hint. The model tests put in variables that
// explore schedules and stale reads, and that report two unordered accesses to one Plain as a data race.
#pragma once

#include <sched.h>

#include <atomic>

namespace unjank {

template <class T>
class PlainVariable {
 public:
  PlainVariable() = default;
  explicit PlainVariable(T value) : value_(value) {}
  T get() const { return value_; }
  void set(T value) { value_ = value; }

 private:
  T value_{};
};

struct StdPolicy {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using Plain = PlainVariable<T>;

  // Gives the CPU away: whoever is waited for may be runnable on this very core.
  static void pause() { sched_yield(); }
};

}  // namespace unjank
