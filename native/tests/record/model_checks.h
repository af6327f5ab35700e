// What a model test expects of an exploration.
#pragma once

#include <doctest/doctest.h>

#include "tests/model/explorer.h"

#define CHECK_HOLDS(outcome)                      \
  do {                                            \
    const ::unjank::model::Outcome o = (outcome); \
    INFO(o.failure << " after " << o.schedule);   \
    MESSAGE(o.executions << " schedules");        \
    CHECK(o.failure.empty());                     \
    CHECK(o.complete);                            \
  } while (false)
/// A weakened copy must fail, or the test proves nothing.
#define CHECK_CAUGHT(outcome)                               \
  do {                                                      \
    const ::unjank::model::Outcome o = (outcome);           \
    INFO("no failure in " << o.executions << " schedules"); \
    CHECK_FALSE(o.failure.empty());                         \
  } while (false)
