// What elements of P are made of, from the history of a plan that was carried out with
// SimSettings::history.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/execute/executor.h"
#include "warpsim/provenance/history.h"

namespace tilewise {

struct Place {
  uint32_t row = 0, column = 0;
};

// "0:3,1:17" -> places in P. Throws InputError for another text and for places outside P.
std::vector<Place> parse_places(const std::string& text, const plan::Plan& plan);

// Follows as much as can be followed in a fraction of a second: all blocks of small cases, of
// others those in which the places lie if blocks lie in the grid as they lie in P.
void limit_to(const std::vector<Place>& places, const plan::Plan& plan,
              warpsim::provenance::History* history);

// The `provenance` of result.json; grader/results/provenance.py reads it.
Json provenance_json(const warpsim::provenance::History& history, const std::vector<Place>& places,
                     const plan::Plan& plan, const std::vector<OutputPart>& parts);

}  // namespace tilewise
