// Processes that train one model together: messages between them. libheedgrad-mpi.so implements
// this over MPI (launch.h loads it).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
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
  double seconds_waited() const { return seconds_waited_; }  // in wait_until, in all

 private:
  double seconds_waited_ = 0;
};

// The value of every process, by rank. All processes call it, as they do the functions below.
std::vector<std::string> gather_all(Communicator& ranks, const std::string& own);

// The value that rank 0 gives.
std::string from_first(Communicator& ranks, std::string value);

// The same for a value that is copied as bytes.
template <class T>
T from_first(Communicator& ranks, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string bytes =
      from_first(ranks, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  T first = value;
  bytes.copy(reinterpret_cast<char*>(&first), sizeof first);
  return first;
}

}  // namespace heed
