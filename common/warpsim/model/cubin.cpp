#include "warpsim/model/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

namespace warpsim {

namespace {

[[noreturn]] void damaged(const char* what) {
  throw std::runtime_error(std::string("the machine code cannot be read: ") + what + ".");
}

// Reads values one after the other; never beyond the end.
class Bytes {
 public:
  explicit Bytes(std::string_view data) : data_(data) {}
  size_t at() const { return at_; }
  bool more() const { return at_ < data_.size(); }
  void seek(size_t at) {
    if (at > data_.size()) damaged("a table ends too early");
    at_ = at;
  }
  template <class T>
  T get() {
    T value;
    if (sizeof(T) > data_.size() - at_) damaged("a table ends too early");
    std::memcpy(&value, data_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<uint8_t>();
      value |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    damaged("a number in the line table is too long");
  }
  int64_t sleb() {
    int64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<uint8_t>();
      value |= int64_t{byte & 0x7F} << shift;
      if ((byte & 0x80) != 0) continue;
      const unsigned width = shift + 7;
      if ((byte & 0x40) != 0 && width < 64) value -= int64_t{1} << width;
      return value;
    }
    damaged("a number in the line table is too long");
  }

 private:
  std::string_view data_;
  size_t at_ = 0;
};

class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    Bytes in(bytes);
    const auto header = in.get<Elf64_Ehdr>();
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      damaged("it is no 64-bit ELF file");
    architecture_ = int(header.e_flags >> 8 & 0xFF);
    in.seek(header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; ++i) sections_.push_back(in.get<Elf64_Shdr>());
    if (header.e_shstrndx >= sections_.size()) damaged("it has no section names");
    names_ = content(header.e_shstrndx);
  }

  int architecture() const { return architecture_; }
  size_t count() const { return sections_.size(); }
  const Elf64_Shdr& header(size_t section) const { return sections_[section]; }
  std::string_view name(size_t section) const {
    const size_t at = sections_[section].sh_name;
    if (at >= names_.size()) damaged("a section has no name");
    return {names_.data() + at, strnlen(names_.data() + at, names_.size() - at)};
  }
  std::string_view content(size_t section) const {
    const Elf64_Shdr& s = sections_[section];
    if (s.sh_type == SHT_NOBITS) return {};
    if (s.sh_offset > bytes_.size() || s.sh_size > bytes_.size() - s.sh_offset)
      damaged("a section lies outside the file");
    return bytes_.substr(s.sh_offset, s.sh_size);
  }
  size_t find(std::string_view wanted) const {
    for (size_t i = 0; i < count(); ++i) {
      if (name(i) == wanted) return i;
    }
    return count();
  }
  // Section that the symbol is defined in.
  size_t section_of_symbol(uint32_t symbol) const {
    for (size_t i = 0; i < count(); ++i) {
      if (sections_[i].sh_type != SHT_SYMTAB) continue;
      Bytes in(content(i));
      in.seek(symbol * sizeof(Elf64_Sym));
      return in.get<Elf64_Sym>().st_shndx;
    }
    damaged("it has no symbols");
  }

 private:
  std::string_view bytes_;
  int architecture_ = 0;
  std::vector<Elf64_Shdr> sections_;
  std::string_view names_;
};

// Which section an address in a table belongs to: offset of the address in the table -> section.
std::map<uint64_t, size_t> relocations(const Elf& elf, size_t table) {
  std::map<uint64_t, size_t> targets;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr& header = elf.header(i);
    if ((header.sh_type != SHT_RELA && header.sh_type != SHT_REL) || header.sh_info != table)
      continue;
    Bytes in(elf.content(i));
    while (in.more()) {
      uint64_t offset = 0, info = 0;
      if (header.sh_type == SHT_RELA) {
        const auto entry = in.get<Elf64_Rela>();
        offset = entry.r_offset;
        info = entry.r_info;
      } else {
        const auto entry = in.get<Elf64_Rel>();
        offset = entry.r_offset;
        info = entry.r_info;
      }
      targets[offset] = elf.section_of_symbol(uint32_t(ELF64_R_SYM(info)));
    }
  }
  return targets;
}

struct Row {
  uint64_t address = 0;
  uint32_t line = 0;
};

// The line table (DWARF 2 to 4, section 6.2 of the standard): per section of code its rows, in
// order.
class LineTable {
 public:
  LineTable(const Elf& elf, size_t table)
      : targets_(relocations(elf, table)), in_(elf.content(table)) {
    while (in_.more()) read_unit();
  }
  std::map<size_t, std::vector<Row>> rows;  // by section

 private:
  struct Unit {
    uint8_t step = 1, range = 1, first_opcode = 1;
    int8_t base = 0;
    std::vector<uint8_t> lengths;
  };

  void read_unit() {
    const size_t length = in_.get<uint32_t>(), end = in_.at() + length;
    const auto version = in_.get<uint16_t>();
    if (version < 2 || version > 4) damaged("its line table is of an unknown version");
    const size_t header_bytes = in_.get<uint32_t>(), program = in_.at() + header_bytes;
    Unit unit;
    unit.step = in_.get<uint8_t>();
    if (version >= 4) in_.get<uint8_t>();  // operations per instruction
    in_.get<uint8_t>();                    // is_stmt at the start
    unit.base = in_.get<int8_t>();
    unit.range = std::max<uint8_t>(1, in_.get<uint8_t>());
    unit.first_opcode = in_.get<uint8_t>();
    for (int i = 1; i < unit.first_opcode; ++i) unit.lengths.push_back(in_.get<uint8_t>());
    in_.seek(program);
    reset();
    while (in_.at() < end) step(unit);
  }

  void reset() {
    state_ = {0, 1};
    section_ = 0;
  }
  void emit() { rows[section_].push_back(state_); }

  void step(const Unit& unit) {
    const auto op = in_.get<uint8_t>();
    if (op >= unit.first_opcode) {
      const unsigned adjusted = op - unit.first_opcode;
      state_.address += uint64_t{adjusted / unit.range} * unit.step;
      state_.line += uint32_t(int(unit.base) + int(adjusted % unit.range));
      emit();
      return;
    }
    switch (op) {
      case 0:
        extended();
        break;
      case 1:  // copy
        emit();
        break;
      case 2:
        state_.address += in_.uleb() * unit.step;
        break;
      case 3:
        state_.line += uint32_t(in_.sleb());
        break;
      case 8:
        state_.address += uint64_t{(255u - unit.first_opcode) / unit.range} * unit.step;
        break;
      case 9:
        state_.address += in_.get<uint16_t>();
        break;
      default:  // file, column, statement and the like: operands are skipped
        for (uint8_t i = 0; i < unit.lengths[op - 1u]; ++i) in_.uleb();
    }
  }

  void extended() {
    const uint64_t length = in_.uleb();
    const size_t end = in_.at() + length;
    if (length > 0) {
      const auto op = in_.get<uint8_t>();
      if (op == 1) {  // end of sequence
        reset();
      } else if (op == 2) {  // set address
        const auto target = targets_.find(in_.at());
        section_ = target != targets_.end() ? target->second : 0;
        state_.address = in_.get<uint64_t>();
      }
    }
    in_.seek(end);
  }

  std::map<uint64_t, size_t> targets_;
  Bytes in_;
  Row state_;
  size_t section_ = 0;
};

uint32_t line_at(const std::vector<Row>& rows, uint64_t address) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), address,
                                      [](uint64_t a, const Row& row) { return a < row.address; });
  return after == rows.begin() ? 0 : std::prev(after)->line;
}

}  // namespace

std::vector<CubinKernel> read_cubin(std::string_view bytes) {
  const Elf elf(bytes);
  std::map<size_t, std::vector<Row>> rows;
  if (const size_t table = elf.find(".nv_debug_line_sass"); table != elf.count())
    rows = LineTable(elf, table).rows;
  std::vector<CubinKernel> kernels;
  constexpr std::string_view kText = ".text.";
  for (size_t i = 0; i < elf.count(); ++i) {
    if (elf.name(i).substr(0, kText.size()) != kText) continue;
    CubinKernel kernel;
    kernel.name = elf.name(i).substr(kText.size());
    kernel.architecture = elf.architecture();
    std::vector<Row>& lines = rows[i];
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Row& a, const Row& b) { return a.address < b.address; });
    Bytes in(elf.content(i));
    while (in.more()) {
      MachineWord word;
      word.ptx_line = line_at(lines, in.at());
      word.low = in.get<uint64_t>();
      word.high = in.get<uint64_t>();
      kernel.code.push_back(word);
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace warpsim
