// Pictures that a model has cut into patches.
#include "tools/extras/report/pages/picture.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("picture: how a picture was cut follows from the number of tokens") {
  const auto grid_of = [](int64_t height, int64_t width, int64_t tokens) -> std::string {
    const auto grid = patch_grid(Input(Tensor(Array::zeros({1, 3, height, width}))), tokens);
    return grid ? text(grid->rows, " x ", grid->columns, " of ", grid->side,
                       grid->class_token ? " and a class token" : "")
                : "none";
  };
  CHECK(grid_of(8, 8, 16) == "4 x 4 of 2");
  CHECK(grid_of(8, 8, 17) == "4 x 4 of 2 and a class token");
  CHECK(grid_of(28, 28, 16) == "4 x 4 of 7");
  CHECK(grid_of(4, 6, 6) == "2 x 3 of 2");
  CHECK(grid_of(4, 6, 24) == "4 x 6 of 1");
  CHECK(grid_of(4, 6, 9) == "none");
  CHECK(!patch_grid(Input(Tensor(Array::zeros({1, 8, 8}))), 16));
  CHECK(!patch_grid(Input(Ids::zeros({1, 16})), 16));
}

TEST_CASE(
    "picture: what a page shows, the mean over the channels from the darkest to the brightest") {
  const Array picture = Array::from({1, 2, 2, 4}, {0, 1, 2, 0, 0, 0, 0, 0,  //
                                                   0, 1, 2, 0, 0, 0, 0, 1});
  const auto shown = shown_picture(Input(Tensor(picture)), 3);
  REQUIRE(shown);
  CHECK(to_json(*shown) ==
        "{\"height\":2,\"width\":4,\"side\":2,\"class_token\":true,\"pixels\":"
        "[0,128,255,0,0,0,0,64]}");
  CHECK(!shown_picture(Input(Tensor(picture)), 5));
  CHECK(!shown_picture(Input(Tensor(Array::zeros({1, 1, 512, 256}))), 2));  // too large
  const auto even = shown_picture(Input(Tensor(Array::full({1, 1, 2, 2}, 7))), 1);
  CHECK(even->pixels == std::vector<uint8_t>(4, 0));
}
