#include "warpsim/machine/program.h"

#include <type_traits>

namespace warpsim {

namespace {

// Appends " name=value" for each field.
class Fields {
 public:
  explicit Fields(std::string* text) : text_(*text) {}
  template <class T>
  Fields& operator()(const char* name, T value) {
    text_ += std::string(" ") + name + "=";
    if constexpr (std::is_enum_v<T>)
      text_ += std::to_string(int64_t(value));
    else
      text_ += std::to_string(value);
    return *this;
  }
  Fields& operator()(const char* name, AddressRow address) {
    (*this)(name, uint32_t{address.row});
    if (address.wide) text_ += "(64)";
    return *this;
  }

 private:
  std::string& text_;
};

void add(Fields f, const Op::Enter& o) {
  f("block", o.block)("instructions", o.instructions)("multiply_adds", o.multiply_adds);
  f("products", o.products);
}
void add(Fields f, const Op::Guard& o) {
  f("operations", o.operations);
}
void add(Fields f, const Op::Branch& o) {
  f("number", o.number)("target", o.target)("meeting", o.meeting);
}
void add(Fields f, const Op::Table& o) {
  f("number", o.number)("targets", o.targets)("meeting", o.meeting);
}
void add(Fields f, const Op::Call& o) {
  f("site", o.site);
}
void add(Fields f, const Op::Indirect& o) {
  f("site", o.site)("meeting", o.meeting);
}
void add(Fields f, const Op::Place& o) {
  f("function", o.function);
}
void add(Fields f, const Op::Barrier& o) {
  f("number", o.number)("mode", o.mode)("negated", o.negated);
}
void add(Fields f, const Op::Fence& o) {
  f("scope", o.scope);
}
void add(Fields f, const Op::Mbarrier& o) {
  f("offset", o.offset)("address", o.address)("site", o.site)("mode", o.mode);
  f("parity", bool{o.parity})("no_complete", bool{o.no_complete})("expects", bool{o.expects});
  f("may_give_up", bool{o.may_give_up})("work_ahead", o.work_ahead);
}
void add(Fields f, const Op::Bulk& o) {
  f("index", o.index);
}
void add(Fields f, const Op::Texture& o) {
  f("index", o.index);
}
void add(Fields f, const Op::Address& o) {
  f("bytes", o.bytes)("granule_shift", o.granule_shift);
}
void add(Fields f, const Op::Access& o) {
  f("offset", o.offset)("site", o.site)("address", o.address);
}
void add(Fields f, const Op::Copy& o) {
  f("global_offset", o.global_offset)("global", o.global);
  f("global_site", o.global_site)("bytes", o.bytes);
}
void add(Fields f, const Op::CopyTarget& o) {
  f("shared_offset", o.shared_offset)("shared", o.shared);
  f("shared_site", o.shared_site)("ahead", o.ahead);
}
void add(Fields f, const Op::Wait& o) {
  f("open", o.open)("ahead", o.ahead)("multiply_adds_ahead", o.multiply_adds_ahead);
}
void add(Fields f, const Op::Param& o) {
  f("offset", o.offset)("bytes", o.bytes);
}
void add(Fields f, const Op::Local& o) {
  f("offset", o.offset)("wide", o.wide);
}
void add(Fields f, const Op::Compare& o) {
  f("yes", o.yes)("combine", o.combine)("negated", o.negated)("when", o.when);
}
void add(Fields f, const Op::Negated& o) {
  f("a", o.a)("b", o.b)("c", o.c);
}
void add(Fields f, const Op::Lanes& o) {
  f("members", o.members)("function", o.function)("negated", o.negated);
}
void add(Fields f, const Op::Matrices& o) {
  f("index", o.index);
}
void add(Fields f, const Op::Lookup& o) {
  f("table", o.table);
}
void add(Fields f, const Op::Clock& o) {
  f("shift", o.shift);
}
void add(Fields f, const Op::Space& o) {
  f("space", o.space);
}
void add(Fields f, const Op::Counter& o) {
  f("index", o.index);
}
void add(Fields f, const Op::Poll& o) {
  f("wide", o.wide);
}
void add(Fields f, const Op::Word& o) {
  f("offset", o.offset)("address", o.address)("site", o.site);
}
void add(Fields f, const Op::Watch& o) {
  f("index", o.index);
}

std::string family_text(const Op& op) {
  std::string text;
  switch (op.family) {
    case Family::kRows:
      return "rows";
#define WARPSIM_FAMILY(name, Name) \
  case Family::k##Name:            \
    text = #name ":";              \
    add(Fields(&text), op.name);   \
    break;
#include "warpsim/machine/families.inc"
#undef WARPSIM_FAMILY
  }
  return text;
}

}  // namespace

std::string Program::dump(const ptx::Function& function) const {
  std::string text;
  uint32_t before = UINT32_MAX;
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (op.instruction != before && op.instruction < function.code.size()) {
      const ptx::Instruction& code = function.code[op.instruction];
      text += code.mnemonic + "  (PTX line " + std::to_string(code.ptx_line) + ", line " +
              std::to_string(code.where.line) + ")\n";
    }
    before = op.instruction;
    text += "  " + std::to_string(i) + " ";
    for (const auto& [name, row] :
         {std::pair{" d=", op.d}, {" a=", op.a}, {" b=", op.b}, {" c=", op.c}, {" e=", op.e}}) {
      if (row != 0) text += name + std::to_string(row);
    }
    text += "  " + family_text(op) + "\n";
  }
  return text;
}

}  // namespace warpsim
