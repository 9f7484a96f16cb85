# The page of `heed explain` in a browser, compared with `heed forward`; in two parts, which take about as long.
heed_add_check(tools/explain ${CMAKE_CURRENT_LIST_DIR}/explain_check.py $<TARGET_FILE:heed> gpt reverse)
heed_add_check(tools/explain_variants ${CMAKE_CURRENT_LIST_DIR}/explain_check.py $<TARGET_FILE:heed>
               variants negation pictures)
