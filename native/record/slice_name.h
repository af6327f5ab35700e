// The words that Perfetto's standard library parses, in ART's format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/dictionary.h"
#include "record/thread_registry.h"

namespace unjank::record {

/// `text` without what would mislead `android.monitor_contention`: it splits at brackets and blanks.
std::string without_brackets(std::string_view text, bool keep_blanks);

/// void Ledger.post()(bank.py:12)
std::string place(const Site& site);

/// monitor contention with owner NAME (TID) at PLACE waiters=N blocking from PLACE
std::string contention_name(const ThreadIdentity& owner, const Site& owner_site, std::uint32_t waiters,
                            const Site& site);

}  // namespace unjank::record
