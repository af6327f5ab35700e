// The variables of a model run: atomics with their history, plain variables with race detection, and the policy that
// puts them into the shipped templates.
//
// An atomic keeps every store, in the order of execution. A load may return any store that is not older than what
// happened before it: a store or load, by a thread whose step is in the reader's vector clock (coherence), and, for
// a seq_cst load, not older than the last seq_cst store. A release store carries its thread's clock, an acquiring
// load joins it; a read-modify-write reads the newest store and passes on what that store carried (release sequence).
#pragma once

#include <atomic>
#include <cstring>
#include <optional>

#include "tests/model/explorer.h"

namespace unjank::model {

inline bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

// Who touched a variable, at which of his steps.
struct Access {
  std::size_t thread;
  std::uint32_t step;
  std::size_t store;  // index read or written

  bool happened_before(const VectorClock& clock) const { return step <= clock.steps[thread]; }
};

// Storage that may be reused only when all that touched it happened before.
class Reusable {
 public:
  void reuse() {
    Execution& run = Execution::current();
    for (const Access& access : accesses_) {
      if (!access.happened_before(run.clock())) run.fail("memory reused while another thread may still read it");
    }
    reused_ = true;
  }

 protected:
  void touch(std::size_t store = 0) const {
    Execution& run = Execution::current();
    if (reused_) run.fail("memory used after it was given back");
    accesses_.push_back({run.thread(), run.tick(), store});
  }
  mutable std::vector<Access> accesses_;

 private:
  bool reused_ = false;
};

template <class T>
class Atomic : public Reusable {
 public:
  Atomic() : Atomic(T{}) {}
  Atomic(T value) { append(value, std::memory_order_relaxed, std::nullopt); }  // NOLINT: as std::atomic's
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Execution& run = Execution::current();
    run.step();
    const std::size_t oldest = oldest_visible(order);
    const std::size_t index = stores_.size() - 1 - run.choose_store(stores_.size() - oldest);
    return read(index, order);
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Execution::current().step();
    append(value, order, std::nullopt);
  }

  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify(order, [&](T) { return value; });
  }
  T fetch_add(T by, std::memory_order order = std::memory_order_seq_cst) {
    return modify(order, [&](T old) { return static_cast<T>(old + by); });
  }
  T fetch_sub(T by, std::memory_order order = std::memory_order_seq_cst) {
    return modify(order, [&](T old) { return static_cast<T>(old - by); });
  }
  T fetch_or(T bits, std::memory_order order = std::memory_order_seq_cst) {
    return modify(order, [&](T old) { return static_cast<T>(old | bits); });
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    Execution::current().step();
    const T newest = stores_.back().value;
    if (newest != expected) {
      expected = read(stores_.size() - 1, failure);
      return false;
    }
    replace(desired, success);
    return true;
  }

 private:
  struct Store {
    T value;
    std::optional<VectorClock> carried;
    bool seq_cst;
  };

  std::size_t oldest_visible(std::memory_order order) const {
    const VectorClock& clock = Execution::current().clock();
    std::size_t oldest = 0;
    for (const Access& access : accesses_) {
      if (access.store > oldest && access.happened_before(clock)) oldest = access.store;
    }
    if (order != std::memory_order_seq_cst) return oldest;
    for (std::size_t i = stores_.size(); i-- > oldest;) {
      if (stores_[i].seq_cst) return i;
    }
    return oldest;
  }

  T read(std::size_t index, std::memory_order order) const {
    touch(index);
    const Store& store = stores_[index];
    if (acquires(order) && store.carried) Execution::current().clock().join(*store.carried);
    return store.value;
  }

  void append(T value, std::memory_order order, std::optional<VectorClock> passed_on) {
    touch(stores_.size());
    std::optional<VectorClock> carried = std::move(passed_on);
    if (releases(order)) {
      if (!carried) carried.emplace();
      carried->join(Execution::current().clock());
    }
    stores_.push_back({value, std::move(carried), order == std::memory_order_seq_cst});
  }

  void replace(T value, std::memory_order order) {
    const std::optional<VectorClock> carried = stores_.back().carried;
    read(stores_.size() - 1, order);
    append(value, order, carried);
  }

  template <class Change>
  T modify(std::memory_order order, Change&& change) {
    Execution::current().step();
    const T old = stores_.back().value;
    replace(change(old), order);
    return old;
  }

  std::vector<Store> stores_;
};

// A variable without synchronization of its own: two accesses, one of them a write, must be ordered.
template <class T>
class Plain : public Reusable {
 public:
  T get() const {
    if (written_) expect_before(*written_, "data race: a read is not ordered after the write");
    touch();
    return value_;
  }
  void set(T value) {
    for (const Access& access : accesses_) expect_before(access, "data race: a write is not ordered after an access");
    touch();
    written_ = accesses_.back();
    value_ = value;
  }

 private:
  static void expect_before(const Access& access, const char* otherwise) {
    Execution& run = Execution::current();
    if (!access.happened_before(run.clock())) run.fail(otherwise);
  }
  std::optional<Access> written_;
  T value_{};
};

struct Policy {
  template <class T>
  using Atomic = model::Atomic<T>;
  template <class T>
  using Plain = model::Plain<T>;
  static void pause() { Execution::current().pause(); }
};

}  // namespace unjank::model
