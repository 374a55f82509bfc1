#include "warpsim/scratch.h"

#include <algorithm>
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
  if (data_ != nullptr) scratch_->keep({data_, bytes_, content_}, round_);
}

Scratch::Block Scratch::take(size_t bytes, Content content) {
  Block block;
  block.scratch_ = this;
  block.content_ = content;
  block.round_ = round_;
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
    taken_bytes_ += block.bytes_;
    return block;
  }
  most_taken_ = std::max(most_taken_, taken_bytes_ + bytes);
  while (kept_bytes_ > kAlwaysKept && kept_bytes_ + taken_bytes_ + bytes > most_taken_)
    give_back_oldest();
  // Pages that nobody touches cost nothing, with zeros either.
  void* fresh = content == Content::kAny ? std::malloc(bytes) : std::calloc(bytes, 1);
  if (fresh == nullptr && bytes != 0) throw std::bad_alloc();
  prefer_large_pages(fresh, bytes);
  block.data_ = static_cast<std::byte*>(fresh);
  block.bytes_ = bytes;
  taken_bytes_ += bytes;
  return block;
}

void Scratch::give_back_oldest() {
  std::free(kept_.front().data);
  kept_bytes_ -= kept_.front().bytes;
  kept_.erase(kept_.begin());
}

uint32_t Scratch::number_launch(uint64_t count) {
  count = std::min(count, kMostNumbers);
  if (count > kMostNumbers - last_number_) {  // all are used up: those from before must be gone
    std::erase_if(kept_, [&](const Kept& block) {
      if (block.content != Content::kRecords) return false;
      std::free(block.data);
      kept_bytes_ -= block.bytes;
      return true;
    });
    last_number_ = 0;
    ++round_;
  }
  last_number_ += uint32_t(count);
  return last_number_ - uint32_t(count);
}

void Scratch::keep(const Kept& block, uint32_t round) {
  taken_bytes_ -= block.bytes;
  const bool is_stale = block.content == Content::kRecords && round != round_;
  if (is_stale || block.bytes < kWorthKeeping || block.bytes > kMostKept) {
    std::free(block.data);
    return;
  }
  kept_.push_back(block);
  kept_bytes_ += block.bytes;
  while (kept_bytes_ > kMostKept || kept_.size() > kMostKeptBlocks) give_back_oldest();
}

}  // namespace warpsim
