// Every memory order and every re-check of the queue that could be got wrong, by name.
//
// The structures take this as a template parameter. They ship with Orders; the mutation tests derive from it,
// weaken one line, and show that a model test then fails. What each order is for is written at its accessor and
// collected in docs/memory_model.md.
#pragma once

#include <atomic>

namespace unjank::deliqueue {

struct Orders {
  // stack.h: top
  static constexpr auto kPush = std::memory_order_seq_cst;         // publishes; before the wake word is read
  static constexpr auto kSweep = std::memory_order_acquire;        // pairs with kPush
  static constexpr auto kTraverse = std::memory_order_acquire;     // pairs with kPush
  static constexpr auto kRecheckTop = std::memory_order_seq_cst;   // after the wake word was written

  // free_list.h: top
  static constexpr auto kBury = std::memory_order_seq_cst;         // hands over; before the wake word is read
  static constexpr auto kExhume = std::memory_order_acquire;       // pairs with kBury
  static constexpr auto kRecheckGraves = std::memory_order_seq_cst;

  // wake_word.h
  static constexpr auto kFallAsleep = std::memory_order_seq_cst;   // before top and the free-list are read again
  static constexpr auto kReadSleeper = std::memory_order_seq_cst;  // after the push

  // traversal_gate.h
  static constexpr auto kEnter = std::memory_order_seq_cst;
  static constexpr auto kConfirmEpoch = std::memory_order_seq_cst;
  static constexpr auto kLeave = std::memory_order_release;
  static constexpr auto kAdvance = std::memory_order_seq_cst;
  static constexpr auto kCountVisitors = std::memory_order_seq_cst;

  // quit_gate.h
  static constexpr auto kLeaveHandle = std::memory_order_release;
  static constexpr auto kAwaitLeavers = std::memory_order_acquire;

  // node_pool.h: remote
  static constexpr auto kGiveBack = std::memory_order_release;
  static constexpr auto kTakeBack = std::memory_order_acquire;

  // Re-checks, each the answer to one race.
  static constexpr bool kRecheckBeforeSleep = true;   // a push that came before the wake word was written
  static constexpr bool kRecheckEpoch = true;         // an advance that came before the visitor was counted
  static constexpr bool kRecheckRefused = true;       // the sentinel may arrive between two tries of a push
  static constexpr bool kKeepMark = true;             // a post due now lies above a timed one: so will the next
  static constexpr bool kKeepMarkOnUnlink = true;     // timed nodes are left below the top that is unlinked
  static constexpr bool kOneSentinel = true;          // two threads quit at once
  static constexpr bool kClaimByCas = true;           // looper and remover want the same message
  static constexpr bool kCloseAwaitsLeavers = true;   // a producer is writing the wake handle
  static constexpr bool kSweepBeforeUnlink = true;    // a removed node may not have its back-link yet
  static constexpr bool kDeferReuse = true;           // a visitor may stand on the unlinked node
};

}  // namespace unjank::deliqueue
