#include "warpsim/ptx/names.h"

#include <algorithm>
#include <charconv>

namespace warpsim::ptx {

namespace {

constexpr size_t kMaxScopes = 64;

// Splits %f12 into %f and 12; false if there is no number or it has leading zeros.
bool split_number(std::string_view name, std::string_view* prefix, uint64_t* number) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || (name[digits] == '0' && name.size() - digits > 1)) return false;
  *prefix = name.substr(0, digits);
  return std::from_chars(name.data() + digits, name.data() + name.size(), *number).ec ==
         std::errc{};
}

}  // namespace

Names::Names(Function* function) : function_(function), scopes_(1) {}

bool Names::open_scope() {
  if (scopes_.size() >= kMaxScopes) return false;
  scopes_.emplace_back();
  return true;
}

void Names::close_scope() {
  settle_labels(&scopes_.back());
  std::vector<LabelUse> unknown = std::move(scopes_.back().label_uses);
  scopes_.pop_back();
  auto& outer = scopes_.back().label_uses;
  outer.insert(outer.end(), unknown.begin(), unknown.end());
}

bool Names::declare_register(std::string_view name, Type type) {
  return scopes_.back().names.try_emplace(name, Declared{true, type, -1}).second;
}

bool Names::declare_family(std::string_view prefix, uint64_t count, Type type) {
  auto& families = scopes_.back().families;
  if (std::ranges::any_of(families, [&](const Family& f) { return f.prefix == prefix; }))
    return false;
  families.push_back({prefix, count, type});
  return true;
}

bool Names::declare_variable(std::string_view name, int32_t variable) {
  return scopes_.back().names.try_emplace(name, Declared{false, Type::kNone, variable}).second;
}

void Names::replace_variable(int32_t from, int32_t to) {
  for (auto& [name, declared] : scopes_.back().names) {
    if (!declared.is_register && declared.index == from) {
      declared.index = to;
      return;
    }
  }
}

bool Names::define_label(std::string_view name, uint32_t instruction) {
  end_label_ = instruction;
  return scopes_.back().labels.try_emplace(name, instruction).second;
}

bool Names::declare_targets(std::string_view name, std::vector<std::string_view> labels) {
  return scopes_.back().targets.try_emplace(name, std::move(labels)).second;
}

int32_t Names::add_register(std::string_view name, Type type) {
  function_->registers.push_back({unique(name), type});
  return static_cast<int32_t>(function_->registers.size() - 1);
}

int32_t Names::find_register(std::string_view name) {
  std::string_view prefix;
  uint64_t number = 0;
  bool numbered = split_number(name, &prefix, &number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto declared = scope->names.find(name);
    if (declared != scope->names.end()) {
      if (!declared->second.is_register) return -1;
      int32_t& index = declared->second.index;
      if (index < 0) index = add_register(name, declared->second.type);
      return index;
    }
    if (!numbered) continue;
    for (const Family& family : scope->families) {
      if (family.prefix != prefix || number >= family.count) continue;
      int32_t index = add_register(name, family.type);
      scope->names.emplace(name, Declared{true, family.type, index});
      return index;
    }
  }
  return -1;
}

int32_t Names::find_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto declared = scope->names.find(name);
    if (declared != scope->names.end())
      return declared->second.is_register ? -1 : declared->second.index;
  }
  return -1;
}

const std::vector<std::string_view>* Names::find_targets(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto found = scope->targets.find(name);
    if (found != scope->targets.end()) return &found->second;
  }
  return nullptr;
}

void Names::use_label(std::string_view name, uint32_t instruction, uint32_t operand,
                      uint32_t line) {
  scopes_.back().label_uses.push_back({name, instruction, operand, line});
}

void Names::settle_labels(Scope* scope) {
  std::erase_if(scope->label_uses, [&](const LabelUse& use) {
    auto label = scope->labels.find(use.name);
    if (label == scope->labels.end()) return false;
    function_->code[use.instruction].src[use.operand].target = static_cast<int32_t>(label->second);
    return true;
  });
}

const Names::LabelUse* Names::resolve_labels() {
  settle_labels(&scopes_.front());
  const auto& unknown = scopes_.front().label_uses;
  return unknown.empty() ? nullptr : &unknown.front();
}

std::string Names::unique(std::string_view name) {
  std::string result(name);
  int& last = taken_.try_emplace(result, 0).first->second;
  while (last > 0 && taken_.contains(result = std::string(name) + "$" + std::to_string(last + 1)))
    ++last;
  ++last;
  taken_.try_emplace(result, 1);
  return result;
}

}  // namespace warpsim::ptx
