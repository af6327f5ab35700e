// ART's wording, to the letter, and nothing in a name that would mislead those who parse it.
#include "record/slice_name.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace unjank::record {

namespace {

/// Takes what lies between `before` and the first `after` off the front, as those do who parse names.
std::string cut(std::string_view& rest, std::string_view before, std::string_view after) {
  const std::size_t end = rest.find(after);
  if (!rest.starts_with(before) || end == std::string_view::npos) return "(not found)";
  const std::string part(rest.substr(before.size(), end - before.size()));
  rest.remove_prefix(end + after.size());
  return part;
}

}  // namespace

TEST_CASE("a contention is worded as ART words it") {
  const Site owner{"Ledger.post", "/srv/bank.py", "bank.py", 12};
  const Site waiter{"Ledger.total", "/srv/bank.py", "bank.py", 30};
  CHECK(contention_name({4711, "teller"}, owner, 2, waiter) ==
        "monitor contention with owner teller (4711) at void Ledger.post()(bank.py:12) waiters=2 "
        "blocking from void Ledger.total()(bank.py:30)");
}

TEST_CASE("brackets become square ones, control characters question marks") {
  CHECK(without_brackets("a(b)c", true) == "a[b]c");
  CHECK(without_brackets(std::string("a\n\t\x7f\0b", 6), true) == "a????b");
}

TEST_CASE("blanks stay in names of threads and files and go from those of functions") {
  CHECK(without_brackets("two words", true) == "two words");
  CHECK(without_brackets("two words", false) == "two_words");
}

TEST_CASE("other letters than ASCII stay as they are") { CHECK(without_brackets("größe", false) == "größe"); }

TEST_CASE("whatever it is made of, a name falls into its parts again") {
  for (const std::string evil : {"f (1) at void", "<lambda> waiters=9", "a)(b:1", "x blocking from void y", "\n"}) {
    const Site site{evil, evil, evil, 7};
    const std::string name = contention_name({1, evil}, site, 3, site);
    std::string_view rest = name;
    CHECK(cut(rest, "monitor contention with owner ", " (") == without_brackets(evil, true));
    CHECK(cut(rest, "", ") at void ") == "1");
    CHECK(cut(rest, "", "()(") == without_brackets(evil, false));
    CHECK(cut(rest, "", ") waiters=") == without_brackets(evil, true) + ":7");
    CHECK(cut(rest, "", " blocking from void ") == "3");
    CHECK(cut(rest, "", "()(") == without_brackets(evil, false));
    CHECK(rest == without_brackets(evil, true) + ":7)");
  }
}

}  // namespace unjank::record
