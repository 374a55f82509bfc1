// parse(print(parse(text))) == parse(text), for all golden inputs and for what nvcc wrote (nvcc/).

#include <map>
#include <set>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "tests/ptx/printer.h"
#include "warpsim/ptx/modifiers.h"
#include "warpsim/ptx/opcode_table.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

// Old index -> new index after sorting by `key`.
template <typename Item, typename Key>
std::vector<int32_t> sort_items(std::vector<Item>* items, Key key) {
  std::vector<int32_t> order(items->size());
  for (size_t n = 0; n < order.size(); ++n) order[n] = static_cast<int32_t>(n);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return key((*items)[a]) < key((*items)[b]); });
  std::vector<int32_t> place(order.size());
  std::vector<Item> sorted;
  for (size_t n = 0; n < order.size(); ++n) {
    place[order[n]] = static_cast<int32_t>(n);
    sorted.push_back((*items)[order[n]]);
  }
  *items = std::move(sorted);
  return place;
}

void renumber(Operand* operand, const std::vector<int32_t>& functions,
              const std::vector<int32_t>& variables) {
  if (operand->function >= 0) operand->function = functions[operand->function];
  if (operand->symbol >= 0) operand->symbol = variables[operand->symbol];
  for (Operand& element : operand->elements) renumber(&element, functions, variables);
}

// Functions and variables numbered by name; without what the printer does not keep: lines of the
// PTX text, the spelling of mnemonics, unused files.
Module canonical(Module m) {
  auto owner = [&](const Variable& v) {
    return v.function < 0 ? std::string() : m.functions[v.function].name;
  };
  auto variables =
      sort_items(&m.variables, [&](const Variable& v) { return owner(v) + " " + v.name; });
  auto functions = sort_items(&m.functions, [](const Function& f) { return f.name; });
  for (Variable& v : m.variables) {
    if (v.function >= 0) v.function = functions[v.function];
    for (auto& r : v.relocations)
      r.symbol = r.is_function ? functions[r.symbol] : variables[r.symbol];
  }
  for (Function& f : m.functions) {
    for (int32_t& p : f.params) p = variables[p];
    for (int32_t& p : f.returns) p = variables[p];
    for (Instruction& i : f.code) {
      i.ptx_line = 0;
      i.mnemonic = spell_mnemonic(i);
      for (Operand& o : i.dst) renumber(&o, functions, variables);
      for (Operand& o : i.src) renumber(&o, functions, variables);
    }
  }
  return m;
}

void check_same(const Module& a, const Module& b) {
  CHECK(a.target == b.target);
  CHECK(a.files == b.files);
  REQUIRE(a.variables.size() == b.variables.size());
  for (size_t v = 0; v < a.variables.size(); ++v) {
    INFO("variable " << a.variables[v].name);
    CHECK(bool(a.variables[v] == b.variables[v]));
  }
  REQUIRE(a.functions.size() == b.functions.size());
  for (size_t f = 0; f < a.functions.size(); ++f) {
    const Function &x = a.functions[f], &y = b.functions[f];
    INFO("function " << x.name);
    REQUIRE(x.code.size() == y.code.size());
    for (size_t n = 0; n < x.code.size(); ++n) {
      INFO("instruction " << n << ": " << x.code[n].mnemonic);
      CHECK(bool(x.code[n] == y.code[n]));
    }
    CHECK(bool(x == y));
  }
}

}  // namespace

TEST_CASE("What is printed parses to the same module") {
  for (const std::string folder : {"golden", "nvcc"}) {
    for (const auto& path : ptx_tests::ptx_files(folder)) {
      if (ptx_tests::must_fail(path)) continue;
      INFO(path.filename().string());
      Module module = parse(ptx_tests::read_file(path), "a.cu");
      check_same(canonical(module), canonical(parse(print(module), "a.cu")));
    }
  }
}

TEST_CASE("A fault in the printed text is seen by the comparison") {
  Module module =
      parse(ptx_tests::read_file(std::string(PTX_TESTS) + "/golden/integer.ptx"), "a.cu");
  std::string text = print(module);
  size_t at = text.find("mul.hi");
  REQUIRE(at != std::string::npos);
  text.replace(at, 6, "mul.lo");
  CHECK_FALSE(bool(canonical(module).functions == canonical(parse(text, "a.cu")).functions));
}

TEST_CASE("Every row of the opcode table is in a golden file and is spelled as it was decoded") {
  std::set<std::string_view> seen;
  for (const auto& path : ptx_tests::ptx_files("golden")) {
    if (ptx_tests::must_fail(path)) continue;
    Module module = parse(ptx_tests::read_file(path), "a.cu");
    for (const Function& function : module.functions) {
      for (const Instruction& i : function.code) {
        const OpcodeRow* row = find_opcode(i.mnemonic);
        if (!row || i.op == Opcode::kUnknown) continue;
        seen.insert(row->name);
        INFO(path.filename().string() << ": " << i.mnemonic);
        const OpcodeRow* spelled = find_opcode(spell_mnemonic(i));
        REQUIRE(spelled);
        CHECK(spelled->op == i.op);
      }
    }
  }
  for (const OpcodeRow& row : opcode_table()) {
    INFO(row.name);
    CHECK(seen.contains(row.name));
  }
}

TEST_CASE("Every opcode but kUnknown has a row") {
  std::set<Opcode> with_row;
  for (const OpcodeRow& row : opcode_table()) with_row.insert(row.op);
  for (int op = 0; op < static_cast<int>(Opcode::kCount); ++op) {
    INFO("opcode " << op);
    CHECK(with_row.contains(static_cast<Opcode>(op)) ==
          (static_cast<Opcode>(op) != Opcode::kUnknown));
  }
}
