// Processes that train one model together: messages between them. libheedgrad-mpi.so implements
// this over MPI (launch.h loads it).
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed {

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;  // of this process, 0 to size() - 1; rank 0 writes the run folder
  virtual int size() const = 0;

  using Done = std::function<void()>;
  using Bytes = std::span<std::byte>;
  using ConstBytes = std::span<const std::byte>;

  // Start to send or to receive a message of this many bytes. The memory must stay as it is until
  // done() was called, which progress() does. Messages with the same sender, receiver and tag
  // arrive in the order in which they were sent. Tags are 0 to most_tag.
  virtual void send(int to, int tag, ConstBytes message, Done done) = 0;
  virtual void receive(int from, int tag, Bytes message, Done done) = 0;
  static constexpr int most_tag = 32767;  // what MPI guarantees

  // Lets messages travel, and calls done() of those that have arrived. Returns whether any has.
  virtual bool progress() = 0;

  // The last call: no process sends or receives any more. A process that ends without it, after an
  // error for instance, ends all others.
  virtual void leave() = 0;

  // Makes progress until over() is true. A process that waits long sleeps between two looks, so
  // that it takes no core from the others.
  void wait_until(const std::function<bool()>& over);
};

// The value of every process, by rank. All processes call it, as they do the functions below.
std::vector<std::string> gather_all(Communicator& ranks, const std::string& own);

// The value that rank 0 gives.
std::string from_first(Communicator& ranks, std::string value);

// A number, or another value that is copied as bytes: put at the end of a message, and taken from
// its beginning.
template <class T>
void append_number(const T& number, std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
template <class T>
T next_number(std::string_view& bytes) {
  T number;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

// The value that rank 0 gives, of such a one.
template <class T>
T from_first(Communicator& ranks, const T& value) {
  std::string own;
  append_number(value, own);
  const std::string first = from_first(ranks, std::move(own));
  std::string_view bytes = first;
  return next_number<T>(bytes);
}

}  // namespace heed
