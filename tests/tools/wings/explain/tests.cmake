# The page of `heed explain` in a browser, compared with `heed forward`.
heed_add_check(tools/explain ${CMAKE_CURRENT_LIST_DIR}/explain_check.py $<TARGET_FILE:heed>)
