# The page of the tour in a browser, compared with `heed tour --json`.
heed_add_check(tools/tour ${CMAKE_CURRENT_LIST_DIR}/tour_check.py $<TARGET_FILE:heed>)
