#include "warpsim/scratch.h"

#include <cstdlib>
#include <new>

#include "warpsim/memory_view.h"

namespace warpsim {

namespace {

constexpr size_t kWorthKeeping = 64 << 10;  // shorter ones the heap keeps by itself
constexpr size_t kMostKeptBlocks = 64;

}  // namespace

Scratch::~Scratch() {
  for (const Kept& block : kept_) std::free(block.data);
}

Scratch::Block::~Block() {
  if (data_ != nullptr) scratch_->keep({data_, bytes_, content_});
}

Scratch::Block Scratch::take(size_t bytes, Content content) {
  Block block;
  block.scratch_ = this;
  block.content_ = content;
  auto best = kept_.end();
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->content != content || kept->bytes < bytes || kept->bytes / 2 > bytes) continue;
    if (best == kept_.end() || kept->bytes < best->bytes) best = kept;
  }
  if (best != kept_.end()) {
    block.data_ = best->data;
    block.bytes_ = best->bytes;
    kept_bytes_ -= best->bytes;
    kept_.erase(best);
    return block;
  }
  // Pages that nobody touches cost nothing, with zeros either.
  void* fresh = content == Content::kZeros ? std::calloc(bytes, 1) : std::malloc(bytes);
  if (fresh == nullptr && bytes != 0) throw std::bad_alloc();
  prefer_large_pages(fresh, bytes);
  block.data_ = static_cast<std::byte*>(fresh);
  block.bytes_ = bytes;
  return block;
}

void Scratch::keep(const Kept& block) {
  if (block.bytes < kWorthKeeping || block.bytes > kMostKept) {
    std::free(block.data);
    return;
  }
  kept_.push_back(block);
  kept_bytes_ += block.bytes;
  while (kept_bytes_ > kMostKept || kept_.size() > kMostKeptBlocks) {
    std::free(kept_.front().data);
    kept_bytes_ -= kept_.front().bytes;
    kept_.erase(kept_.begin());
  }
}

}  // namespace warpsim
