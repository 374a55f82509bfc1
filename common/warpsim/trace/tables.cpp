// What can be told of a launch before it runs: its instructions, loops, arrays and parameters.

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "warpsim/provenance/history.h"
#include "warpsim/trace/recorder.h"

namespace warpsim::trace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr uint64_t kMostKeptBytes = 1 << 20;  // of one array's contents
constexpr uint64_t kMostKeptInAll = 8 << 20;

const char* kind_of(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
      return code.space == ptx::Space::kParam ? "parameter" : "load";
    case Opcode::kSt:
      return code.space == ptx::Space::kParam ? "parameter" : "store";
    case Opcode::kAtom:
    case Opcode::kRed:
      return "atomic";
    case Opcode::kBulkCopy:
    case Opcode::kCpAsync:
      return "copy";
    case Opcode::kBulkCommit:
    case Opcode::kCpAsyncCommit:
      return "commit";
    case Opcode::kBulkWait:
    case Opcode::kCpAsyncWait:
      return "wait";
    case Opcode::kBar:
      return "barrier";
    case Opcode::kMbarrier:
    case Opcode::kMbarrierWait:
    case Opcode::kCopiesArrive:
    case Opcode::kBarWarp:
      return "sync";
    case Opcode::kShfl:
      return "shuffle";
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
      return "vote";
    case Opcode::kMembar:
    case Opcode::kProxyFence:
      return "fence";
    case Opcode::kBra:
    case Opcode::kBrx:
      return "branch";
    case Opcode::kCall:
      return "call";
    case Opcode::kRet:
    case Opcode::kExit:
      return "return";
    default:
      return ptx::is_float(code.type) && !code.dst.empty() &&
                     code.dst[0].kind == Operand::Kind::kRegister && code.op != Opcode::kSetp &&
                     code.op != Opcode::kMov
                 ? "arithmetic"
                 : "other";
  }
}

// The operand whose values are kept: what is loaded, computed, or stored.
const Operand* valued(const ptx::Instruction& code, std::string_view kind) {
  if (kind == "load" || kind == "arithmetic" || kind == "shuffle")
    return code.dst.empty() ? nullptr : &code.dst[0];
  if (kind == "store" || kind == "atomic") return code.src.size() > 1 ? &code.src[1] : nullptr;
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The instruction as it stands in PTX, in one piece.
std::string text_of(const ptx::Instruction& code, const std::vector<std::string>& lines) {
  if (code.ptx_line == 0 || code.ptx_line > lines.size()) return code.mnemonic;
  std::string text;
  for (char c : lines[code.ptx_line - 1]) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\r';
    if (!is_blank) text += c;
    if (is_blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ';')) text.pop_back();
  // Of products that ptxas contracts the text has the sum.
  return text.find(code.mnemonic) != std::string::npos ? text
                                                       : code.mnemonic + " (of: " + text + ")";
}

}  // namespace

const Operand* valued_operand(const ptx::Instruction& code) {
  return valued(code, kind_of(code));
}

void Recorder::describe_instructions() {
  base_.assign(image_.module.functions.size(), 0);
  std::map<std::pair<uint32_t, uint32_t>, std::array<int32_t, 2>> sites;
  for (size_t i = 0; i < image_.sites.size(); ++i) {
    const MemorySite& site = image_.sites[i];
    auto [at, fresh] =
        sites.try_emplace({site.function, site.instruction}, std::array<int32_t, 2>{kNone, kNone});
    const bool is_second = site.is_async || !fresh;
    at->second[site.is_async ? 1 : is_second && at->second[0] != kNone ? 1 : 0] = int32_t(i);
  }
  const Settings& settings = recording_.settings();
  const std::vector<std::string> lines = lines_of(image_.text);
  for (int32_t number : context_.facts->functions) {
    const ptx::Function& function = image_.module.functions[size_t(number)];
    if (function.is_extern) continue;
    base_[size_t(number)] = uint32_t(launch_.instructions.size());
    const auto index = uint32_t(launch_.functions.size());
    launch_.functions.push_back(function.source_name);
    registers_.push_back(types_.add(function));
    std::map<std::tuple<int32_t, uint32_t, std::string>, std::vector<size_t>> same;
    std::map<uint32_t, uint32_t> leader;  // by base register of the address: who goes first
    for (uint32_t i = 0; i < function.code.size(); ++i) {
      const ptx::Instruction& code = function.code[i];
      Instruction& out = launch_.instructions.emplace_back();
      Fact& fact = facts_.emplace_back();
      fact.code = &code;
      fact.function = index;
      out.function = index;
      out.number = i;
      out.line = code.where.line;
      if (code.where.line != 0 && code.where.file >= 0)
        out.file = recording_.file(image_.module.files[size_t(code.where.file)]);
      out.op = code.mnemonic;
      out.text = text_of(code, lines);
      out.kind = kind_of(code);
      if (auto at = sites.find({uint32_t(number), i}); at != sites.end()) fact.sites = at->second;
      const std::string_view kind = out.kind;
      const bool meets = kind == "barrier" || kind == "commit" || kind == "wait";
      fact.is_wanted = settings.first_line == 0 || meets ||
                       (out.line >= settings.first_line && out.line <= settings.last_line);
      fact.value_bytes = ptx::size_bytes(code.type);
      if (const Operand* value = valued(code, kind)) {
        const bool is_vector = value->kind == Operand::Kind::kVector;
        fact.has_values = fact.value_bytes != 0 && fact.value_bytes <= 8;
        fact.elements = is_vector ? uint32_t(std::min<size_t>(value->elements.size(), 4)) : 1;
        for (uint32_t e = 0; e < fact.elements; ++e) {
          const Operand& one = is_vector ? value->elements[e] : *value;
          const bool is_wide_register =
              one.reg >= 0 && ptx::size_bytes(function.registers[size_t(one.reg)].type) == 8;
          fact.wide[e] =
              kind == "store" || kind == "atomic" ? fact.value_bytes == 8 : is_wide_register;
        }
      }
      out.elements = fact.elements;
      if (kind == "copy" && code.src.size() > 2) out.elements = uint32_t(code.src[2].imm / 4);
      same[{code.where.file, code.where.line, code.mnemonic}].push_back(facts_.size() - 1);
    }
    for (const auto& [key, group] : same) {
      for (size_t i = 0; i < group.size(); ++i) {
        launch_.instructions[group[i]].copy = uint32_t(i);
        launch_.instructions[group[i]].copies = uint32_t(group.size());
      }
    }
  }
  describe_merges();
}

// Whose cost an access to shared memory is part of: the one before it that ptxas widens.
void Recorder::describe_merges() {
  if (!context_.merge_shared) return;
  for (size_t i = 0; i < facts_.size(); ++i) {
    if (facts_[i].sites[0] == kNone) continue;
    const MemorySite& site = image_.sites[size_t(facts_[i].sites[0])];
    if (site.merged_bytes != 0) launch_.instructions[i].times = site.merged_times;
    if (!site.merged_away) continue;
    launch_.instructions[i].times = 0;
    const int32_t base = facts_[i].code->src[0].reg;
    for (size_t j = i; j-- > 0 && facts_[j].function == facts_[i].function;) {
      if (facts_[j].sites[0] == kNone || facts_[j].code->src.empty()) continue;
      const MemorySite& other = image_.sites[size_t(facts_[j].sites[0])];
      if (other.merged_bytes == 0 || other.is_store != site.is_store ||
          facts_[j].code->src[0].reg != base)
        continue;
      launch_.instructions[i].merged_into = int32_t(j);
      break;
    }
  }
}

// Loops: a branch back to an instruction, and what lies between.
void Recorder::describe_loops() {
  std::map<uint32_t, uint32_t> loops;  // first, last
  for (uint32_t i = 0; i < facts_.size(); ++i) {
    const ptx::Instruction& code = *facts_[i].code;
    if (code.op != Opcode::kBra || code.src.empty()) continue;
    const uint32_t base = i - launch_.instructions[i].number;
    const uint32_t target = base + uint32_t(code.src[0].target);
    if (target > i) continue;
    uint32_t& last = loops[target];
    last = std::max(last, i);
  }
  for (const auto& [first, last] : loops) {
    Loop& loop = launch_.loops.emplace_back();
    const Instruction& head = launch_.instructions[first];
    loop.function = head.function;
    loop.first = first, loop.last = last;
    loop.file = head.file, loop.line = head.line;
    for (size_t outer = launch_.loops.size() - 1; outer-- > 0;) {
      if (launch_.loops[outer].last < last) continue;
      loop.parent = int32_t(outer);
      break;
    }
    for (uint32_t i = first; i <= last; ++i)
      launch_.instructions[i].loops.push_back(uint32_t(launch_.loops.size() - 1));
  }
}

void Recorder::describe_arrays() {
  uint64_t kept = 0;
  for (const AllocationRecord* record : MemoryView(*context_.memory).live()) {
    const auto index = int32_t(launch_.arrays.size());
    Array& array = launch_.arrays.emplace_back();
    array.name = record->info.name;
    array.holds = recording_.label_of(record->info.address);
    array.space = record->info.is_constant ? Space::kConstant : Space::kGlobal;
    array.address = record->info.address;
    array.bytes = record->info.size_bytes;
    array.is_kept = array.bytes <= kMostKeptBytes && kept + array.bytes <= kMostKeptInAll;
    globals_[array.address] = index;
    if (history_ != nullptr) history_->bind(array.address, array.bytes, std::to_string(index), 0);
    if (!array.is_kept) continue;
    kept += array.bytes;
    array.initial.assign((array.bytes + 3) / 4, 0);
    std::memcpy(array.initial.data(), record->data, array.bytes);
  }
  for (size_t i = 0; i < image_.shared.size(); ++i) {
    const SharedArray& shared = image_.shared[i];
    const auto& ranges = context_.facts->shared_ranges;
    const bool is_used = shared.is_dynamic
                             ? context_.dynamic_shared_bytes != 0
                             : std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
                                 return range.offset == shared.offset;
                               });
    if (!is_used) continue;
    shareds_.emplace_back(int32_t(i), int32_t(launch_.arrays.size()));
    Array& array = launch_.arrays.emplace_back();
    array.name = shared.name;
    array.space = Space::kShared;
    array.address = shared.offset;
    array.bytes = shared.is_dynamic ? context_.dynamic_shared_bytes : shared.size_bytes;
  }
  for (size_t i = 0; i < launch_.arrays.size(); ++i) {
    const uint32_t member = types_.add_array();
    if (i == 0) first_array_ = member;
  }
}

void Recorder::describe_parameters() {
  const ptx::Function& kernel = image_.module.functions[size_t(context_.function)];
  for (int32_t variable : kernel.params) {
    const ptx::Variable& v = image_.module.variables[size_t(variable)];
    Parameter& parameter = launch_.parameters.emplace_back();
    parameter.bytes = uint32_t(v.size_bytes);
    if (v.size_bytes > 8 || v.param_offset_bytes + v.size_bytes > context_.params.size()) continue;
    std::memcpy(&parameter.value, context_.params.data() + v.param_offset_bytes, v.size_bytes);
    if (v.size_bytes != 8) continue;
    const AllocationRecord* record = MemoryView(*context_.memory).find(parameter.value);
    if (record == nullptr) continue;
    parameter.array = globals_.at(record->info.address);
    parameter.offset = parameter.value - record->info.address;
  }
}

void Recorder::name_types() {
  for (size_t i = 0; i < launch_.arrays.size(); ++i) {
    Array& array = launch_.arrays[i];
    array.type = types_.name(first_array_ + uint32_t(i), array.element_bytes, Type::kNone);
  }
  for (size_t i = 0; i < facts_.size(); ++i) {
    const ptx::Instruction& code = *facts_[i].code;
    const uint32_t bytes = std::clamp(ptx::size_bytes(code.type), 1u, 8u);
    uint32_t member = registers_[facts_[i].function];
    const Operand* value = valued(code, launch_.instructions[i].kind);
    const Operand* one = value != nullptr && !value->elements.empty() ? &value->elements[0] : value;
    std::string& type = launch_.instructions[i].type;
    if (one != nullptr && one->reg >= 0)
      type = types_.name(member + uint32_t(one->reg), bytes, code.type);
    else
      type = ValueTypes::name_of(code.type, bytes);
  }
}

}  // namespace warpsim::trace
