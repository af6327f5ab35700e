// The node a message rides in: linked into the stack, the heap and the free-list at once.
//
//   member        written by                                  read by
//   next          pusher before the push; looper on unlink    looper, visitors
//   state         pusher before the push; the one claimant    everybody
//   match fields  pusher before the push                      looper, visitors (relaxed, identity only)
//   payload       pusher before the push                      whoever claimed the node
//   when          pusher before the push                      looper, visitors
//   back          looper                                      looper
//   slot          pusher (none), then looper                  looper
//   free_next     whoever holds the node alone: remover, looper, pool
//   depth         remover                                     removers (relaxed, a hint)
//
// A visitor reads the first cache line only. Nodes are type-stable: the pool reuses them but never unmaps them,
// so that a stale Handle may read `state`.
//
// `state` - Encodes: generation (56 bits), flags, status. Written by: the pusher, which owns the node alone; then
// exactly one CAS from kPending, by the looper (kTaken) or a remover (kRemoved). A reader may conclude: nothing
// from kPending; the other two are final for this generation. Order: relaxed. The winner read the node through an
// acquire of the stack's top (or was given the Handle by the poster), the loser touches nothing.
// Breaks without the CAS: a message both run and released; caught by remove_model_test "remove races pop".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/atomic_policy.h"
#include "base/cache_line.h"
#include "base/clock.h"
#include "deliqueue/message.h"
#include "deliqueue/orders.h"
#include "deliqueue/slots.h"

namespace unjank::deliqueue {

enum class Status : std::uint8_t { kFree, kPending, kTaken, kRemoved };
enum class Kind : std::uint8_t { kMessage, kBarrier, kQuit };

// What sorts before all due times: posts at the front, then posts that are due now and never asked what time it is.
inline constexpr std::int64_t kFrontKey = -(std::int64_t{1} << 62);
inline constexpr std::int64_t kUntimed = kFrontKey + 1;

// Due times are kept inside (kUntimed, kForever].
constexpr std::int64_t clamped(std::int64_t when) { return std::clamp(when, kUntimed + 1, kForever); }

// Reads `state` apart: status in bits 0-1, message flags in 2-3, kind in 4-5, generation from bit 8.
struct State {
  std::uint64_t bits;
  static State pending(std::uint64_t generation, Kind kind, std::uint8_t flags) {
    return {generation << 8 | static_cast<std::uint64_t>(kind) << 4 | std::uint64_t{flags} << 2 |
            static_cast<std::uint64_t>(Status::kPending)};
  }
  State with(Status status) const { return {(bits & ~std::uint64_t{3}) | static_cast<std::uint64_t>(status)}; }
  Status status() const { return static_cast<Status>(bits & 3); }
  Kind kind() const { return static_cast<Kind>(bits >> 4 & 3); }
  std::uint8_t flags() const { return bits >> 2 & 3; }
  std::uint64_t generation() const { return bits >> 8; }
};

template <class Policy, class O = Orders>
struct alignas(kCacheLine) Node {
  template <class T>
  using Atomic = typename Policy::template Atomic<T>;
  template <class T>
  using Plain = typename Policy::template Plain<T>;

  Atomic<Node*> next{nullptr};
  Atomic<std::uint64_t> state{0};
  Atomic<const void*> target{nullptr};
  Atomic<std::int64_t> what{0};
  Atomic<const void*> obj{nullptr};
  Atomic<const void*> callback{nullptr};
  Atomic<const void*> receiver{nullptr};
  Atomic<const void*> token{nullptr};

  Plain<std::int64_t> when;
  Plain<std::int64_t> arg1;
  Plain<std::int64_t> arg2;
  Plain<void*> data;
  Plain<Release> release;
  Plain<Node*> back;
  Plain<Node*> free_next;
  Plain<Slot> slot;  // kNoSlot: in no heap
  Atomic<std::uint32_t> depth{0};

  // The pusher, before the push. Starts the node's next generation, and returns it.
  std::uint64_t fill(const Message& message, Kind kind, std::int64_t due) {
    const std::uint64_t generation = load_state().generation() + 1;
    target.store(message.target, std::memory_order_relaxed);
    what.store(message.what, std::memory_order_relaxed);
    obj.store(message.obj, std::memory_order_relaxed);
    callback.store(message.callback, std::memory_order_relaxed);
    receiver.store(message.receiver, std::memory_order_relaxed);
    token.store(message.token, std::memory_order_relaxed);
    when.set(due);
    arg1.set(message.arg1);
    arg2.set(message.arg2);
    data.set(message.data);
    release.set(message.release);
    back.set(nullptr);
    slot.set(kNoSlot);
    state.store(State::pending(generation, kind, message.flags).bits, std::memory_order_relaxed);
    return generation;
  }

  // Whoever claimed the node.
  Message message() const {
    return {.when_ns = when.get(), .target = match_target(), .what = match_what(), .arg1 = arg1.get(),
            .arg2 = arg2.get(), .obj = match_obj(), .callback = match_callback(), .receiver = match_receiver(),
            .token = match_token(), .data = data.get(), .release = release.get(), .flags = load_state().flags()};
  }

  // Does it sort by a due time of its own? The looper.
  bool timed() const { return when.get() != kUntimed && !(load_state().flags() & kAtFront); }

  State load_state() const { return {state.load(std::memory_order_relaxed)}; }
  bool pending() const { return load_state().status() == Status::kPending; }

  // True for exactly one caller per generation: it owns the payload now.
  bool claim(State seen, Status status) {
    if (seen.status() != Status::kPending) return false;
    if constexpr (!O::kClaimByCas) {
      state.store(seen.with(status).bits, std::memory_order_relaxed);
      return true;
    }
    return state.compare_exchange_strong(seen.bits, seen.with(status).bits, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  const void* match_target() const { return target.load(std::memory_order_relaxed); }
  std::int64_t match_what() const { return what.load(std::memory_order_relaxed); }
  const void* match_obj() const { return obj.load(std::memory_order_relaxed); }
  const void* match_callback() const { return callback.load(std::memory_order_relaxed); }
  const void* match_receiver() const { return receiver.load(std::memory_order_relaxed); }
  const void* match_token() const { return token.load(std::memory_order_relaxed); }
};

using ShippedNode = Node<StdPolicy>;
static_assert(sizeof(ShippedNode) == 2 * kCacheLine, "what visitors read, and the rest");
static_assert(offsetof(ShippedNode, when) == kCacheLine, "a visitor's matching stays on the first line");

}  // namespace unjank::deliqueue
