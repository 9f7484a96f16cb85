# find_package(heedgrad): the libraries heedgrad::heedgrad (float32) and heedgrad::heedgrad_f64 (float64), the
# programs heedgrad::heed and heedgrad::heed-f64, and heedgrad_add_plugin(), unless the extra plugins was left out.
include(${CMAKE_CURRENT_LIST_DIR}/heedgradTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/heedgrad_plugin.cmake OPTIONAL)
