#include "autograd/kernels/gemm/amx/product.h"

#include "autograd/kernels/choice.h"

#ifdef HEED_HAS_AMX

#include <algorithm>
#include <memory>

#include "autograd/kernels/gemm/amx/split.h"
#include "autograd/kernels/gemm/amx/tiles.h"
#include "autograd/kernels/gemm/packed.h"

namespace heed::detail {

namespace {

// A piece of the resident factor stays in the L2 cache while panels of the other one pass by it:
// all of its lines when that leaves them `shallow`, so that nothing has to pass twice.
template <class Format>
constexpr int64_t resident_numbers = 512 * 384 * 3 / Format::parts;
template <class Format>
constexpr int64_t deep = 384 * 3 / Format::parts;
constexpr int64_t shallow = 192;

template <class Format>
struct Workspace {
  typename Format::Step resident[resident_numbers<Format> / (block_side * block_side)];
  typename Format::Step panel[deep<Format> / block_side];
  alignas(64) real blocks[2][block_side * block_side];
};

template <class Format>
Workspace<Format>& workspace() {
  thread_local const auto memory = std::make_unique_for_overwrite<Workspace<Format>>();
  return *memory;
}

// The size of the fewest parts of n that are at most `most` each, in whole blocks.
int64_t even_part(int64_t n, int64_t most) {
  const int64_t whole = most / block_side * block_side;
  const int64_t parts = (n + whole - 1) / whole;
  return round_up((n + parts - 1) / parts, block_side);
}

// Rows of A pass by columns of B or the other way round: whichever are more.
template <class Format>
class AmxProduct {
  using Step = typename Format::Step;

 public:
  explicit AmxProduct(const Product& p)
      : p_(p),
        rows_pass_(p.m >= p.n),
        resident_(rows_pass_ ? columns_of_b() : rows_of_a()),
        passing_(rows_pass_ ? rows_of_a() : columns_of_b()) {}

  // Both formats inlined into one function cost bfloat16 4%.
  [[gnu::noinline]] void run() {
    const int64_t lines = std::min(p_.m, p_.n);
    const int64_t depth =
        even_part(p_.k, std::clamp(resident_numbers<Format> / lines, shallow, deep<Format>));
    const int64_t piece = even_part(lines, resident_numbers<Format> / depth);
    for (int64_t line = 0; line < lines; line += piece) {
      for (int64_t begin = 0; begin < p_.k; begin += depth) {
        multiply_piece({line, std::min(piece, lines - line)},
                       {begin, std::min(depth, p_.k - begin)});
      }
    }
    delivery_.finish();
  }

 private:
  Splitter<Format> rows_of_a() const {
    return {p_.a, p_.lda, p_.ta == Trans::no, p_.ta == Trans::yes};
  }
  Splitter<Format> columns_of_b() const {
    return {p_.b, p_.ldb, p_.tb == Trans::yes, p_.tb == Trans::yes};
  }

  void multiply_piece(Range lines, Range depth) {
    const bool resident_fits = resident_.split(lines, depth, space_.resident);
    const int64_t all = std::max(p_.m, p_.n);
    for (int64_t begin = 0; begin < all; begin += block_side) {
      const Range passing{begin, std::min(block_side, all - begin)};
      if (resident_fits && passing_.split(passing, depth, space_.panel)) {
        multiply_panel(passing, lines, depth);
      } else {
        multiply_exactly(passing, lines, depth);
      }
    }
  }

  void multiply_panel(Range passing, Range lines, Range depth) {
    const int64_t steps = blocks_in(depth.size);
    const Step* resident = space_.resident;
    // Of the block before, at each moment: all of them while this one is multiplied.
    const int64_t rows_a_moment = (block_side - 1) / (Format::products * steps) + 1;
    for (int64_t j = 0; j < lines.size; j += block_side, resident += steps) {
      const Range part{lines.begin + j, std::min(block_side, lines.size - j)};
      const auto [rows, columns] = rows_pass_ ? std::pair(passing, part) : std::pair(part, passing);
      const Destination c{p_.c + rows.begin * p_.ldc + columns.begin, p_.ldc, rows.size,
                          columns.size, p_.beta != 0 || depth.begin > 0};
      const bool direct = !Format::scaled && c.takes_tiles();
      real* block = direct ? c.c : space_.blocks[turn_];
      const Step* panel = space_.panel;
      const auto [a, b] = rows_pass_ ? std::pair(panel, resident) : std::pair(resident, panel);
      int64_t fetched = 0;
      const real* soon = c.c + block_side * (rows_pass_ ? 1 : p_.ldc);  // need not exist
      multiply_block<Format>(steps, a, b, block, direct ? c.ldc : block_side, false, [&] {
        for (int64_t r = 0; r < rows_a_moment; ++r) {
          delivery_.next_row();
        }
        if (fetched < block_side) {
          __builtin_prefetch(soon + fetched * p_.ldc, 1);
          __builtin_prefetch(soon + fetched * p_.ldc + lanes, 1);
          ++fetched;
        }
      });
      delivery_.finish();
      if (!direct) {
        delivery_.start(block, c);
        if constexpr (Format::scaled) {
          delivery_.undo(a->undo, b->undo);
        }
        turn_ = 1 - turn_;
      }
    }
  }

  void multiply_exactly(Range passing, Range lines, Range depth) {
    delivery_.finish();
    const auto [rows, columns] = rows_pass_ ? std::pair(passing, lines) : std::pair(lines, passing);
    Product part = rows_of(p_, rows.begin, rows.begin + rows.size);
    part = columns_of(part, columns.begin, columns.begin + columns.size);
    part = depth_of(part, depth.begin, depth.begin + depth.size);
    part.beta = p_.beta != 0 || depth.begin > 0 ? real{1} : real{0};
    packed_gemm(part);
  }

  const Product& p_;
  bool rows_pass_;
  Splitter<Format> resident_, passing_;
  Workspace<Format>& space_ = workspace<Format>();
  Delivery<Format::scaled> delivery_;
  int turn_ = 0;  // of the two blocks: one is filled while the other one is delivered
};

}  // namespace

bool amx_pays(const Product& p) {
  if (p.alpha != 1 || (p.beta != 0 && p.beta != 1)) {
    return false;
  }
  constexpr int64_t least_work = 1 << 20;  // below, and with much padding, there is little to gain
  const int64_t work = p.m * p.n * p.k;
  const int64_t padded =
      round_up(p.m, block_side) * round_up(p.n, block_side) * round_up(p.k, block_side);
  return work >= least_work && 2 * padded <= 3 * work;
}

void amx_gemm(const Product& p, AmxFormat format) {
  const TileRegisters registers;
  if (format == AmxFormat::float16) {
    AmxProduct<Float16x2>(p).run();
  } else {
    AmxProduct<Bfloat16x3>(p).run();
  }
}

}  // namespace heed::detail

#else

namespace heed::detail {

bool amx_pays(const Product&) { return false; }
void amx_gemm(const Product&, AmxFormat) {}

}  // namespace heed::detail

#endif

namespace heed::detail {

namespace {

template <AmxFormat format>
constexpr ProductKernel products_on{[](const Product& p, bool) { return amx_pays(p); },
                                    [](const Product& p) { amx_gemm(p, format); }};

}  // namespace

const ProductKernel amx_fp16_products = products_on<AmxFormat::float16>;
const ProductKernel amx_bf16_products = products_on<AmxFormat::bfloat16>;

}  // namespace heed::detail
