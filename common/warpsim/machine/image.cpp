#include "warpsim/machine/image.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "warpsim/machine/sub_word.h"
#include "warpsim/memory_view.h"
#include "warpsim/ptx/opcode_facts.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using Memory = ptx::OpcodeFacts::Memory;
using ptx::Operand;
using ptx::Space;

constexpr uint32_t kSharedAlignment =
    128;  // keeps the banks of a packed layout for arrays that begin at a multiple of it

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool copies_in_bulk(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& code : function.code)
      if (code.op == ptx::Opcode::kBulkCopy) return true;
  }
  return false;
}

// How far behind a multiple of 1024 dynamic shared memory begins. A GPU puts it behind what is
// static, aligned as it is declared; by luck it is aligned better. Boxes and swizzles, which need
// more than any load does, are not to rest on luck.
uint32_t dynamic_offset(const ptx::Module& module) {
  constexpr uint32_t kPromised = 16, kMost = 1024;
  if (!copies_in_bulk(module)) return 0;
  uint32_t declared = kPromised;
  for (const ptx::Variable& v : module.variables) {
    if (v.space == Space::kShared && v.is_extern && v.size_bytes == 0)
      declared = std::max(declared, v.align_bytes);
  }
  return declared < kMost ? declared : 0;
}

void place_shared(Image& image) {
  uint32_t next = kSharedGap;
  auto& variables = image.module.variables;
  image.shared_index.assign(variables.size(), -1);
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& v = variables[i];
    if (v.space != Space::kShared || (v.is_extern && v.size_bytes == 0)) continue;
    next = uint32_t(round_up(next, std::max(kSharedAlignment, v.align_bytes)));
    image.shared_index[i] = int32_t(image.shared.size());
    image.addresses[i] = next;
    image.shared.push_back(
        {v.source_name.empty() ? v.name : v.source_name, next, uint32_t(v.size_bytes), false});
    next += uint32_t(v.size_bytes) + kSharedGap;
  }
  // All extern arrays are the same memory.
  next = uint32_t(round_up(next, 1024)) + dynamic_offset(image.module);
  image.shared_bytes = next;
  int32_t dynamic = -1;
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& v = variables[i];
    if (v.space != Space::kShared || !v.is_extern || v.size_bytes != 0) continue;
    if (dynamic < 0) {
      dynamic = int32_t(image.shared.size());
      image.shared.push_back({v.source_name.empty() ? v.name : v.source_name, next, 0, true});
    }
    image.shared_index[i] = dynamic;
    image.addresses[i] = next;
  }
}

void place_local(Image& image) {
  std::vector<uint32_t> used(image.module.functions.size(), 0);
  image.local_offsets.assign(image.module.variables.size(), 0);
  for (size_t i = 0; i < image.module.variables.size(); ++i) {
    const ptx::Variable& v = image.module.variables[i];
    if (v.space != Space::kLocal || v.function < 0) continue;
    uint32_t& next = used[size_t(v.function)];
    next = uint32_t(round_up(next, std::max(8u, v.align_bytes)));
    image.local_offsets[i] = next;
    next += uint32_t(v.size_bytes);
  }
  for (size_t f = 0; f < used.size(); ++f)
    image.programs[f].local_bytes = uint32_t(round_up(used[f], 16));
}

void place_global(Image& image, DeviceMemory& memory) {
  for (size_t i = 0; i < image.module.variables.size(); ++i) {
    const ptx::Variable& v = image.module.variables[i];
    if (v.space != Space::kGlobal && v.space != Space::kConst) continue;
    const bool constant = v.space == Space::kConst;
    const std::string name = (constant       ? "__constant__ "
                              : v.is_managed ? "__managed__ "
                                             : "__device__ ") +
                             (v.source_name.empty() ? v.name : v.source_name);
    image.addresses[i] = memory.allocate(v.size_bytes, name, v.is_managed);
    if (image.addresses[i] == 0)
      throw std::runtime_error("device memory is used up: no room for the variable " + v.name);
  }
}

// Initial values, zero where there are none, as C++ promises.
void initialise_globals(Image& image, DeviceMemory& memory) {
  for (size_t i = 0; i < image.module.variables.size(); ++i) {
    const ptx::Variable& v = image.module.variables[i];
    if (v.space != Space::kGlobal && v.space != Space::kConst) continue;
    std::vector<uint8_t> bytes(v.initial.begin(), v.initial.end());
    bytes.resize(v.size_bytes, 0);
    for (const auto& r : v.relocations) {
      uint64_t value = uint64_t(r.addend);
      if (r.is_function) {
        value += kFunctionAddresses + uint64_t(r.symbol);
      } else {
        const Space space = image.module.variables[size_t(r.symbol)].space;
        value += image.addresses[size_t(r.symbol)] +
                 (r.generic && space == Space::kShared ? kSharedWindow : 0);
      }
      if (r.offset_bytes + 8 <= bytes.size()) std::memcpy(bytes.data() + r.offset_bytes, &value, 8);
    }
    memory.write(image.addresses[i], bytes.data(), bytes.size());
    if (v.space == Space::kConst)
      MemoryView(memory).find(image.addresses[i])->info.is_constant = true;
  }
}

// Which parameters a register's value may have been computed from. A flow-insensitive
// over-approximation.
struct Sources {
  std::set<uint32_t> params;    // offsets of 8-byte parameters
  std::set<int32_t> variables;  // module variables
  bool unknown = false;
  bool add(const Sources& other) {
    const size_t before = params.size() + variables.size() + unknown;
    params.insert(other.params.begin(), other.params.end());
    variables.insert(other.variables.begin(), other.variables.end());
    unknown = unknown || other.unknown;
    return params.size() + variables.size() + unknown != before;
  }
};

class Provenance {
 public:
  Provenance(const Image& image, int32_t function)
      : module_(image.module),
        function_(module_.functions[size_t(function)]),
        registers_(function_.registers.size()) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const ptx::Instruction& code : function_.code) changed |= step(code);
    }
  }

  Sources of(const Operand& operand) const {
    Sources s;
    switch (operand.kind) {
      case Operand::Kind::kRegister:
      case Operand::Kind::kAddress:
      case Operand::Kind::kSymbol:
        if (operand.reg >= 0) s.add(registers_[size_t(operand.reg)]);
        if (operand.symbol >= 0) add_variable(operand.symbol, &s);
        break;
      case Operand::Kind::kVector:
        for (const Operand& e : operand.elements) s.add(of(e));
        break;
      default:
        break;
    }
    return s;
  }

 private:
  void add_variable(int32_t variable, Sources* s) const {
    if (module_.variables[size_t(variable)].space != Space::kParam) s->variables.insert(variable);
  }

  bool step(const ptx::Instruction& code) {
    Sources s;
    const bool wide = ptx::size_bytes(code.type) == 8;
    if (code.op == Opcode::kLd && code.space == Space::kParam) {
      const Operand& from = code.src[0];
      const ptx::Variable* v = from.symbol >= 0 ? &module_.variables[size_t(from.symbol)] : nullptr;
      const bool own = v != nullptr && function_.is_kernel &&
                       std::find(function_.params.begin(), function_.params.end(), from.symbol) !=
                           function_.params.end();
      if (own) {
        if (wide) {
          for (int e = 0; e < code.vector_width; ++e)
            s.params.insert(
                uint32_t(v->param_offset_bytes + uint64_t(from.offset) + 8u * unsigned(e)));
        }
      } else {
        s.unknown = wide;  // a result or argument of a device function
      }
    } else if (code.op == Opcode::kLd || code.op == Opcode::kAtom || code.op == Opcode::kLdu) {
      s.unknown = wide && !ptx::is_float(code.type);  // a pointer read from memory
    } else {
      for (const Operand& operand : code.src) s.add(of(operand));
    }
    bool changed = false;
    for (const Operand& d : code.dst) {
      if (d.reg >= 0) changed |= registers_[size_t(d.reg)].add(s);
      for (const Operand& e : d.elements) {
        if (e.reg >= 0) changed |= registers_[size_t(e.reg)].add(s);
      }
    }
    return changed;
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<Sources> registers_;
};

bool is_global_access(const ptx::Instruction& code) {
  return code.space == Space::kGlobal || code.space == Space::kGeneric;
}

// Whether its elements are less than a word.
bool has_small_elements(const ptx::Instruction& code) {
  const Memory memory = ptx::facts_of(code.op).memory;
  const bool is_whole = ptx::size_bytes(code.type) >= 4 || code.matrices != 0;
  return memory != Memory::kNone && memory != Memory::kCopy && !is_whole;
}

// Whether it stores or loads an element of a surface that shares its word with others.
bool is_part_of_word(const ptx::Instruction& code) {
  if (code.op != Opcode::kSust && code.op != Opcode::kSuld) return false;
  const Operand& element = code.op == Opcode::kSust ? code.src[1] : code.dst[0];
  return ptx::size_bytes(code.type) * std::max<size_t>(1, element.elements.size()) < 4;
}

// The address of an access to global memory; nullptr if the instruction is none.
const Operand* global_address(const ptx::Instruction& code) {
  const bool is_async = code.op == Opcode::kCpAsync;
  if (!is_async && !is_global_access(code)) return nullptr;
  return code.src.size() < (is_async ? 2u : 1u) ? nullptr : &code.src[is_async ? 1 : 0];
}

void note_access(Image& image, const ptx::Instruction& code, bool is_kernel,
                 const Provenance& provenance, KernelFacts* facts) {
  if (code.op == Opcode::kBulkCopy)
    (code.space == Space::kGlobal ? facts->writes_anything : facts->reads_anything) = true;
  if (code.op == Opcode::kTex || code.op == Opcode::kSuld) facts->reads_anything = true;
  if (code.op == Opcode::kSust) facts->writes_anything = true;
  if (code.op == Opcode::kMbarrierWait || code.op == Opcode::kBulkCopy)
    facts->meets_in_shared = true;
  if (code.mnemonic == "griddepcontrol.launch_dependents") facts->lets_next_begin = true;
  const Memory memory = ptx::facts_of(code.op).memory;
  if (memory == Memory::kNone) return;
  const bool atomic = memory == Memory::kAtomic;
  if (code.is_volatile && is_global_access(code)) facts->has_volatile = true;
  if (atomic && is_global_access(code)) facts->has_global_atomics = true;
  const Operand* address = global_address(code);
  if (address == nullptr) return;
  const Sources s = provenance.of(*address);
  auto note = [&](bool* anything, std::vector<uint32_t>* params, std::vector<uint64_t>* variables) {
    *anything = *anything || s.unknown || !is_kernel || (s.params.empty() && s.variables.empty());
    params->insert(params->end(), s.params.begin(), s.params.end());
    for (int32_t v : s.variables) {
      if (image.module.variables[size_t(v)].space == Space::kGlobal)
        variables->push_back(image.addresses[size_t(v)]);
    }
  };
  if (memory != Memory::kStore)
    note(&facts->reads_anything, &facts->read_params, &facts->read_variables);
  if (memory == Memory::kStore || atomic)
    note(&facts->writes_anything, &facts->written_params, &facts->written_variables);
}

// Functions of the system that allocate, free, launch kernels or decide what is launched.
bool changes_memory(std::string_view name) {
  return name == "malloc" || name == "free" || name == "__cudaCDP2Malloc" ||
         name == "__cudaCDP2Free" || name == "__cudaCDP2GetParameterBufferV2" ||
         name == "cudaGraphSetConditional";
}

void collect_functions(const Image& image, int32_t function, std::vector<int32_t>& path,
                       KernelFacts* facts) {
  if (std::find(path.begin(), path.end(), function) != path.end()) {
    facts->has_recursion = true;
    return;
  }
  const auto known = std::find(facts->functions.begin(), facts->functions.end(), function);
  if (known != facts->functions.end()) return;
  facts->functions.push_back(function);
  path.push_back(function);
  for (const ptx::Instruction& code : image.module.functions[size_t(function)].code) {
    if (code.op != Opcode::kCall || code.src.empty()) continue;
    if (code.src[0].kind == Operand::Kind::kRegister) {
      for (int32_t callee : functions_by_address(image.module))
        collect_functions(image, callee, path, facts);
    }
    if (code.src[0].kind != Operand::Kind::kFunction) continue;
    const ptx::Function& callee = image.module.functions[size_t(code.src[0].function)];
    if (changes_memory(callee.name)) facts->calls_malloc = true;
    if (callee.name == "vprintf") facts->prints = true;
    if (!callee.is_extern) collect_functions(image, code.src[0].function, path, facts);
  }
  path.pop_back();
}

void add_symbols(const Operand& operand, std::set<int32_t>* symbols) {
  if (operand.symbol >= 0) symbols->insert(operand.symbol);
  for (const Operand& e : operand.elements) add_symbols(e, symbols);
}

uint32_t local_bytes_of(const Image& image, const KernelFacts& facts) {
  constexpr uint32_t kRecursionBytes = 64 << 10;
  uint32_t bytes = 0;
  for (int32_t f : facts.functions) bytes += image.programs[size_t(f)].local_bytes;
  return facts.has_recursion && bytes != 0 ? std::max(bytes, kRecursionBytes) : bytes;
}

}  // namespace

std::vector<int32_t> functions_by_address(const ptx::Module& module) {
  std::set<int32_t> found;
  for (const ptx::Variable& v : module.variables) {
    for (const auto& r : v.relocations) {
      if (r.is_function) found.insert(r.symbol);
    }
  }
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& code : function.code) {
      for (size_t i = 0; i < code.src.size(); ++i) {
        const bool is_callee = code.op == Opcode::kCall && i == 0;
        if (code.src[i].kind == Operand::Kind::kFunction && !is_callee)
          found.insert(code.src[i].function);
      }
    }
  }
  std::vector<int32_t> functions;
  for (int32_t f : found) {
    const ptx::Function& function = module.functions[size_t(f)];
    if (!function.is_extern && !function.is_kernel) functions.push_back(f);
  }
  return functions;
}

bool touches_part_of_shared_word(const ptx::Instruction& code) {
  const bool is_shared = code.space == Space::kShared || code.space == Space::kGeneric;
  return is_shared && has_small_elements(code);
}

bool touches_part_of_global_word(const ptx::Instruction& code) {
  return is_part_of_word(code) || (is_global_access(code) && has_small_elements(code));
}

void place_variables(Image& image, DeviceMemory& memory) {
  image.addresses.assign(image.module.variables.size(), 0);
  image.programs.resize(image.module.functions.size());
  image.facts.resize(image.module.functions.size());
  place_shared(image);
  place_local(image);
  place_global(image, memory);
  initialise_globals(image, memory);
  for (const ptx::Function& function : image.module.functions) {
    for (const ptx::Instruction& code : function.code) {
      if (touches_part_of_shared_word(code)) image.has_sub_word_shared = true;
      if (code.op == ptx::Opcode::kMbarrierWait) image.has_mbarriers = true;
      if (touches_part_of_global_word(code)) image.has_sub_word_global = true;
    }
  }
}

std::vector<uint32_t> parameters_of_address(const Image& image, uint32_t function,
                                            uint32_t instruction) {
  const Operand* address = global_address(image.instruction(function, instruction));
  if (address == nullptr || !image.module.functions[function].is_kernel) return {};
  const Sources s = Provenance(image, int32_t(function)).of(*address);
  if (s.unknown || !s.variables.empty()) return {};
  return {s.params.begin(), s.params.end()};
}

const KernelFacts& kernel_facts(Image& image, int32_t kernel) {
  KernelFacts& facts = image.facts[size_t(kernel)];
  if (facts.ready) return facts;
  std::vector<int32_t> path;
  collect_functions(image, kernel, path, &facts);
  std::set<int32_t> symbols;
  for (int32_t f : facts.functions) {
    const ptx::Function& function = image.module.functions[size_t(f)];
    const Provenance provenance(image, f);
    for (const ptx::Instruction& code : function.code) {
      note_access(image, code, function.is_kernel, provenance, &facts);
      for (const Operand& operand : code.src) add_symbols(operand, &symbols);
    }
  }
  uint32_t shared = 0;
  for (int32_t symbol : symbols) {
    const ptx::Variable& v = image.module.variables[size_t(symbol)];
    if (v.space != Space::kShared || v.is_extern) continue;
    shared = uint32_t(round_up(shared, std::max(1u, v.align_bytes)) + v.size_bytes);
    facts.shared_ranges.push_back(
        {uint32_t(image.addresses[size_t(symbol)]), uint32_t(v.size_bytes)});
  }
  facts.static_shared_bytes = shared;
  facts.local_bytes = local_bytes_of(image, facts);
  facts.ready = true;
  return facts;
}

}  // namespace warpsim
