#include "autograd/kernels/gemm/packed.h"

#include "tests/support/products.h"

TEST_CASE("packed gemm: every shape of tile, whole blocks and their rests") {
  heed::testing::check_products(heed::detail::packed_gemm, {{1, 1, 1},
                                                            {6, 64, 16},
                                                            {5, 63, 15},
                                                            {7, 65, 17},
                                                            {13, 33, 128},
                                                            {24, 96, 129},
                                                            {259, 20, 40},
                                                            {40, 385, 30},
                                                            {260, 390, 300}});
}
