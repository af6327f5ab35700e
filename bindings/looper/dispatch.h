// Running one message on the looper's thread.
#pragma once

#include "types.h"

namespace unjank::looper {

// Runs the message and releases it. What it raised goes to the looper's exception hook. False with an exception set:
// one that must leave the loop (KeyboardInterrupt, SystemExit).
bool dispatch(LooperObject* looper, const Next& next);

}  // namespace unjank::looper
