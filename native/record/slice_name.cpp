#include "record/slice_name.h"

namespace unjank::record {

std::string without_brackets(std::string_view text, bool keep_blanks) {
  std::string clean;
  clean.reserve(text.size());
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '(') {
      clean += '[';
    } else if (letter == ')') {
      clean += ']';
    } else if (code < 0x20 || code == 0x7f) {
      clean += '?';
    } else if (letter == ' ' && !keep_blanks) {
      clean += '_';
    } else {
      clean += letter;
    }
  }
  return clean;
}

std::string place(const Site& site) {
  return "void " + without_brackets(site.function, false) + "()(" + without_brackets(site.file, true) + ':' +
         std::to_string(site.line) + ')';
}

std::string contention_name(const ThreadIdentity& owner, const Site& owner_site, std::uint32_t waiters,
                            const Site& site) {
  return "monitor contention with owner " + without_brackets(owner.name, true) + " (" +
         std::to_string(owner.tid) + ") at " + place(owner_site) + " waiters=" + std::to_string(waiters) +
         " blocking from " + place(site);
}

}  // namespace unjank::record
