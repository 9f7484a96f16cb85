# Needs: pages probe
heed_asset(gradients/scripts gradients.js)
list(APPEND heed_in_float64 "^tools/extras/probe/(lens|patch|model/)" "^tools/extras/gradients/(backward|measure)/")
