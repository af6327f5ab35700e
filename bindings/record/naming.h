// What a lock is called: the attribute or variable it was assigned to, read off the bytecode that made it.
#pragma once

#include <cstdint>

#include "places.h"

namespace unjank::record {

/// The name of the lock that the calling thread is making now, as a number of the dictionary:
/// "Ledger._book_lock (bank.py:4)". Where a library made it for the program, what the program assigned and
/// the library's attribute: "Worker.inbox.mutex (work.py:9)". Where nothing was assigned, what and where:
/// "Lock in main (work.py:9)". `what` is the type's name.
std::uint32_t creation_name(ThreadPlaces& places, const char* what);

}  // namespace unjank::record
