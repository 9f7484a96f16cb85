#include "train/extras/processes/mpi_communicator.h"

#include <mpi.h>

#include <limits>
#include <utility>

#include "autograd/base/error.h"

namespace heed {

namespace {

void require_success(int code, const char* what) {
  if (code != MPI_SUCCESS) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, words, &length);
    fail<Error>("MPI: ", what, ": ", words);
  }
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;
    require_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "start");
    require_success(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "start");
    MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
    ::on_exit(
        [](int status, void* self) { static_cast<MpiCommunicator*>(self)->leave_with(status); },
        this);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, int tag, ConstBytes message, Done done) override {
    require_success(MPI_Isend(message.data(), count_of(message.size()), MPI_BYTE, to, tag, ranks_,
                              &requests_.emplace_back()),
                    "send");
    dones_.push_back(std::move(done));
  }

  void receive(int from, int tag, Bytes message, Done done) override {
    require_success(MPI_Irecv(message.data(), count_of(message.size()), MPI_BYTE, from, tag, ranks_,
                              &requests_.emplace_back()),
                    "receive");
    dones_.push_back(std::move(done));
  }

  bool progress() override {
    int count = 0;
    finished_.resize(requests_.size());
    require_success(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                 finished_.data(), MPI_STATUSES_IGNORE),
                    "progress");
    if (count <= 0) {  // MPI_UNDEFINED: nothing is under way
      return false;
    }
    // What is done may start new messages, so the lists are put in order first.
    std::vector<Done> calls;
    for (int k = 0; k < count; ++k) {
      calls.push_back(std::move(dones_[static_cast<size_t>(finished_[static_cast<size_t>(k)])]));
    }
    size_t kept = 0;
    for (size_t k = 0; k < requests_.size(); ++k) {
      if (requests_[k] != MPI_REQUEST_NULL) {
        requests_[kept] = requests_[k];
        dones_[kept] = std::move(dones_[k]);
        ++kept;
      }
    }
    requests_.resize(kept);
    dones_.resize(kept);
    for (const Done& call : calls) call();
    return true;
  }

  void leave() override {
    if (!std::exchange(left_, true)) {
      MPI_Finalize();
    }
  }

 private:
  static int count_of(size_t bytes) {
    require<Error>(bytes <= static_cast<size_t>(std::numeric_limits<int>::max()),
                   "MPI: a message of ", bytes, " bytes is too long");
    return static_cast<int>(bytes);
  }

  // At the end of the process. One that has not left has failed, and the others wait for it.
  void leave_with(int status) {
    if (!left_ && status != 0) {
      MPI_Abort(MPI_COMM_WORLD, status);
    }
    leave();
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool left_ = false;
  // Under way; request k calls dones_[k] when it is done.
  std::vector<MPI_Request> requests_;
  std::vector<Done> dones_;
  std::vector<int> finished_;
};

}  // namespace

}  // namespace heed

extern "C" {
heed::Communicator* heed_mpi_connect() { return new heed::MpiCommunicator; }
const char heed_mpi_build[] = HEED_VERSION;
}
