# "How the gradients flow", and the page of heed explain --learn, on the screen of a browser; skipped where there is no
# Chromium.
heed_add_check(tools/gradients ${CMAKE_CURRENT_LIST_DIR}/gradients_check.py $<TARGET_FILE:heed>)
heed_add_check(tools/learn ${CMAKE_CURRENT_LIST_DIR}/learn_check.py $<TARGET_FILE:heed>)
