#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cudart/session_report.h"

namespace warpsim::cudart {

namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string place(const std::string& file, uint32_t line) {
  return line ? fmt::format("{}:{}", file_name(file), line) : "(no source line)";
}

std::string triple(const std::array<uint32_t, 3>& v) {
  return fmt::format("({},{},{})", v[0], v[1], v[2]);
}

std::string extent(const std::array<uint32_t, 3>& v) {
  if (v[2] != 1) return fmt::format("{}x{}x{}", v[0], v[1], v[2]);
  return v[1] != 1 ? fmt::format("{}x{}", v[0], v[1]) : fmt::format("{}", v[0]);
}

// 1234567 -> "1,234,567".
std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

void add_diagnostic(const SessionDiagnostic& entry, std::string* text) {
  const Diagnostic& d = entry.diagnostic;
  if (d.line) *text += place(d.file, d.line) + ": ";
  *text += fmt::format("{}: {}: {}\n", to_string(d.severity), to_string(d.code), d.message);
  const bool is_of_launch = entry.launch >= 0;
  *text += is_of_launch       ? fmt::format("    in {}, launch {}", d.kernel, entry.launch + 1)
           : d.kernel.empty() ? std::string("    on the host")
                              : "    of " + d.kernel;
  if (d.line && is_of_launch)
    *text += fmt::format(", block {} thread {}", triple(d.block), triple(d.thread));
  if (d.other && d.other->line && d.cause != Cause::kLanesMissing) {
    *text += fmt::format("; the other: {} block {} thread {}", place(d.other->file, d.other->line),
                         triple(d.other->block), triple(d.other->thread));
  }
  if (d.count > 1) *text += fmt::format("; {} times in all", grouped(d.count));
  if (!entry.more_arrays.empty()) *text += "; " + more_arrays_text(entry);
  *text += "\n";
}

// "global_load" if the two are global_load_requests and global_load_sectors, say: what was asked
// for and what that took. Else "".
std::string pair_name(const CounterInfo& counter, const CounterInfo& next) {
  constexpr std::string_view kRequests = "_requests";
  const std::string_view name = counter.name;
  if (!name.ends_with(kRequests)) return "";
  const std::string_view stem = name.substr(0, name.size() - kRequests.size());
  const bool is_pair = std::string_view(next.name).starts_with(std::string(stem) + "_");
  return is_pair ? std::string(stem) : "";
}

// A counter's name as people read it: "bank conflicts", "FMA lanes", "transactions of 32 B".
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (name.starts_with("fma ")) return "FMA " + name.substr(4);
  if (name.starts_with("transactions ")) return "transactions of" + name.substr(12) + " B";
  return name;
}

// Every counter that is not 0, in its unit.
void add_counters(const Counters& c, CountingRule rule, std::string* text) {
  std::vector<CounterInfo> shown;
  for (const CounterInfo& counter : counter_table()) {
    if (counter.field != nullptr && counter.is_in_reports(rule)) shown.push_back(counter);
  }
  for (size_t i = 0; i < shown.size(); ++i) {
    const uint64_t value = c.*shown[i].field;
    const std::string pair = i + 1 < shown.size() ? pair_name(shown[i], shown[i + 1]) : "";
    const uint64_t partner = pair.empty() ? 0 : c.*shown[i + 1].field;
    if (value != 0 || partner != 0) {
      *text += fmt::format("    {:<24}{:>16} {}", plain(pair.empty() ? shown[i].name : pair + "s"),
                           grouped(value), shown[i].unit);
      if (!pair.empty()) *text += fmt::format(" {:>16} {}", grouped(partner), shown[i + 1].unit);
      if (partner != 0 && value != 0)
        *text += fmt::format("   {:.2f} per request", double(partner) / double(value));
      *text += "\n";
    }
    if (!pair.empty()) ++i;
  }
  if (c.volume_bytes() != 0)
    *text += fmt::format("    {:<24}{:>16} bytes\n", "volume", grouped(c.volume_bytes()));
  if (c.load_transactions != 0)
    *text += fmt::format("    {:<24}{:>16.1f} % of the loads' bytes used\n", "bandwidth used",
                         100 * c.abu());
}

void add_lines(const KernelReport& kernel, std::string* text) {
  *text += fmt::format("    {:<24}{:>14}{:>14}{:>12}{:>12}{:>12}{:>12}\n", "line", "instructions",
                       "FMA lanes", "ld sectors", "st sectors", "wavefronts", "conflicts");
  for (const auto& [where, c] : kernel.lines) {
    *text += fmt::format(
        "    {:<24}{:>14}{:>14}{:>12}{:>12}{:>12}{:>12}\n", place(where.first, where.second),
        grouped(c.instructions), grouped(c.fma_lanes), grouped(c.global_load_sectors),
        grouped(c.global_store_sectors),
        grouped(c.shared_load_wavefronts + c.shared_store_wavefronts), grouped(c.bank_conflicts));
  }
}

// "sampled: 5 of 1048576 blocks, 1 kind; exact", or why not.
void add_sampling(const Sampling& s, std::string* text) {
  *text +=
      fmt::format("    sampled         {} of {} blocks", grouped(s.executed), grouped(s.blocks));
  if (s.exact)
    *text += fmt::format(", {} {}: exact\n", s.classes, s.classes == 1 ? "kind" : "kinds");
  else
    *text += fmt::format(": ESTIMATES (instructions within {:.1f}%): {}\n", 100 * s.relative_error,
                         s.why);
}

void add_kernel(const KernelReport& kernel, const Device& device, bool with_lines,
                std::string* text) {
  uint32_t shared = kernel.static_shared_bytes + kernel.dynamic_shared_bytes;
  *text +=
      fmt::format("{}  grid {}  block {}", kernel.name, extent(kernel.grid), extent(kernel.block));
  if (shared) *text += fmt::format("  shared {} B", shared);
  if (kernel.registers) {
    Occupancy o = occupancy(device, kernel.registers, shared,
                            kernel.block[0] * kernel.block[1] * kernel.block[2]);
    *text += fmt::format("  registers {}  occupancy {:.0f}% ({})", kernel.registers,
                         100 * o.fraction, o.limiter);
  }
  *text += fmt::format("  launches {}  simulated in {:.3f} s\n", kernel.launches, kernel.seconds);
  if (kernel.sampling.used) add_sampling(kernel.sampling, text);
  if (kernel.counters.instructions) add_counters(kernel.counters, device.counting_rule, text);
  if (with_lines && !kernel.lines.empty()) add_lines(kernel, text);
}

}  // namespace

std::string to_text(const SessionReport& report, const Device& device, bool with_lines) {
  std::string text = fmt::format("\nwarpsim: {} {} on a simulated {} (compute capability {}.{})\n",
                                 report.launches(), report.launches() == 1 ? "launch" : "launches",
                                 device.name, device.cc_major, device.cc_minor);
  for (const std::string& sentence : report.unsupported())
    text += "unsupported: " + sentence + "\n";
  for (const SessionDiagnostic& entry : report.diagnostics()) add_diagnostic(entry, &text);
  const bool has_faults = std::any_of(
      report.diagnostics().begin(), report.diagnostics().end(),
      [](const SessionDiagnostic& entry) { return entry.diagnostic.severity != Severity::kNote; });
  if (!has_faults && report.unsupported().empty() && report.launches() > 0)
    text += "No faults found.\n";
  for (const KernelReport& kernel : report.kernels()) add_kernel(kernel, device, with_lines, &text);
  return text;
}

}  // namespace warpsim::cudart
