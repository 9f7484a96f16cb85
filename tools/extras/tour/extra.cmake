# Needs: explain report
heed_asset(tour/page page/tour.html HEAD tour)
heed_asset(tour/style ${heed_explain}/explain.css page/tour.css)
heed_asset(tour/scripts ${heed_dom} ${heed_explain}/numbers.js ${heed_explain}/tables.js page/tensors.js page/lessons.js
           page/names.js page/inputs.js page/products.js page/plane.js page/overview.js page/graphs.js page/backward.js page/tour.js
           page/contents.js)
list(APPEND heed_in_float64 "^tools/extras/tour/")
