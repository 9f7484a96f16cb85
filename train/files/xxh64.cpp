#include "train/files/xxh64.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heed {

static_assert(std::endian::native == std::endian::little, "the words are read as they are");

namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t prime3 = 0x165667B19E3779F9;
constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t prime5 = 0x27D4EB2F165667C5;

template <class T>
uint64_t load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

uint64_t mixed(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

}  // namespace

Xxh64::Xxh64(uint64_t seed)
    : seed_(seed), lanes_{seed + prime1 + prime2, seed + prime2, seed, seed - prime1} {}

void Xxh64::consume_stripe(const std::byte* stripe) {
  for (size_t lane = 0; lane < 4; ++lane) {
    lanes_[lane] = mixed(lanes_[lane], load<uint64_t>(stripe + 8 * lane));
  }
}

void Xxh64::update(Bytes bytes) {
  const size_t held = size_ % 32;
  size_ += bytes.size();
  if (held != 0) {
    const size_t taken = std::min(32 - held, bytes.size());
    std::copy_n(bytes.data(), taken, pending_ + held);
    bytes = bytes.subspan(taken);
    if (held + taken < 32) {
      return;
    }
    consume_stripe(pending_);
  }
  for (; bytes.size() >= 32; bytes = bytes.subspan(32)) {
    consume_stripe(bytes.data());
  }
  std::copy_n(bytes.data(), bytes.size(), pending_);
}

uint64_t Xxh64::digest() const {
  uint64_t hash = seed_ + prime5;
  if (size_ >= 32) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) {
      hash = (hash ^ mixed(0, lane)) * prime1 + prime4;
    }
  }
  hash += size_;
  const std::byte* next = pending_;
  const std::byte* end = pending_ + size_ % 32;
  for (; end - next >= 8; next += 8) {
    hash = std::rotl(hash ^ mixed(0, load<uint64_t>(next)), 27) * prime1 + prime4;
  }
  if (end - next >= 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(next) * prime1), 23) * prime2 + prime3;
    next += 4;
  }
  for (; next != end; ++next) {
    hash = std::rotl(hash ^ (load<uint8_t>(next) * prime5), 11) * prime1;
  }
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

}  // namespace heed
