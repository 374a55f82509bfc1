// What each code means, in general: for formats that describe their rules beside the findings.

#pragma once

#include "warpsim/finding.h"

namespace warpsim {

struct Rule {
  Code code;
  const char* what;  // what has happened, one sentence
  const char* help;  // what usually causes it, and what mends it
};

// One for each code, in the order of the codes.
const std::vector<Rule>& rules();

}  // namespace warpsim
