#include <algorithm>
#include <iterator>

#include "warpsim/sim.h"

namespace warpsim {

namespace {

struct CheckName {
  std::string_view name;
  bool Checks::*field;
};
constexpr CheckName kChecks[] = {
    {"bounds", &Checks::bounds},
    {"misaligned", &Checks::misaligned},
    {"initialised", &Checks::initialised},
    {"races", &Checks::races},
    {"barriers", &Checks::barriers},
    {"launches", &Checks::launches},
    {"leaks", &Checks::leaks},
    {"counters", &Checks::counters},
};
static_assert(sizeof(Checks) == std::size(kChecks));  // each has a name

}  // namespace

Checks Checks::none() {
  Checks checks;
  for (const CheckName& check : kChecks) checks.*check.field = false;
  return checks;
}

std::string check_names() {
  std::string names;
  for (const CheckName& check : kChecks) (names += names.empty() ? "" : ", ") += check.name;
  return names;
}

bool read_checks(std::string_view text, Checks* checks, std::string* unknown) {
  *checks = {};
  if (text == "all") return true;
  *checks = Checks::none();
  if (text == "none") return true;
  for (size_t start = 0; start <= text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view name = text.substr(start, comma - start);
    bool known = false;
    for (const CheckName& check : kChecks) {
      if (name == check.name) known = checks->*check.field = true;
    }
    if (!known) {
      *unknown = name;
      return false;
    }
    start = comma + 1;
  }
  return true;
}

}  // namespace warpsim
