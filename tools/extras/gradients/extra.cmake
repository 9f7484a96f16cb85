# Needs: probe report
heed_asset(gradients/scripts gradients.js)
heed_asset(gradients/report report.js)
list(APPEND heed_in_float64 "^tools/extras/probe/(lens|patch)" "^tools/extras/report/parts"
     "^tools/extras/gradients/(backward|measure|run)/")
