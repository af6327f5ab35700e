// ART's wording, to the letter, and nothing in a name that would mislead those who parse it.
#include "record/slice_name.h"

#include <doctest/doctest.h>

#include <regex>

namespace unjank::record {

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
  // As the standard library's own expression: owner, id, function and place, waiters, function and place.
  const std::regex art(
      R"(monitor contention with owner (.+) \((\d+)\) at void ([^ ]+)\(\)\(([^()]*):(\d+)\) )"
      R"(waiters=(\d+) blocking from void ([^ ]+)\(\)\(([^()]*):(\d+)\))");
  for (const std::string evil : {"f (1) at void", "<lambda> waiters=9", "a)(b:1", "x blocking from void y", "\n"}) {
    const Site site{evil, evil, evil, 7};
    const std::string name = contention_name({1, evil}, site, 3, site);
    std::smatch parts;
    REQUIRE_MESSAGE(std::regex_match(name, parts, art), name);
    CHECK(parts[2] == "1");
    CHECK(parts[3] == without_brackets(evil, false));
    CHECK(parts[6] == "3");
    CHECK(parts[9] == "7");
  }
}

}  // namespace unjank::record
