// Words and parts of sentences about findings that more than one file needs.

#pragma once

#include <string>

#include "warpsim/finding_text.h"

namespace warpsim::words {

std::string bytes_text(uint64_t n);
// "Nds[16]", or "Nds+66" where the offset is no whole number of elements or an access takes
// several.
std::string place_text(const Diagnostic& d);
const char* verb(const Party& p);
std::string line_text(const Diagnostic& d);
std::string coordinates(const std::array<uint32_t, 3>& at, const std::array<uint32_t, 3>& size);
// "thread (4,1)".
std::string thread_name(const Party& p, const Extents& shape);

// Findings about mbarriers and copies in bulk.
std::string phase(const Diagnostic& d);
std::string waits_for_phase(const Diagnostic& d, const Extents& shape);
std::string async_proxy(const Diagnostic& d, const Extents& shape);
std::string refused_copy(const Diagnostic& d);
std::string texture_fault(const Diagnostic& d);

}  // namespace warpsim::words
