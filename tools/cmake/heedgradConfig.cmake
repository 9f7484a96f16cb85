# find_package(heedgrad): heedgrad::heedgrad (float32) and heedgrad::heedgrad_f64 (float64).
include(${CMAKE_CURRENT_LIST_DIR}/heedgradTargets.cmake)
