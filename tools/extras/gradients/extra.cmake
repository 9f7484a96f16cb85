# Needs: explain probe report
heed_asset(gradients/scripts gradients.js)
heed_asset(gradients/report report.js)
heed_asset(learn/page page/learn.html HEAD explain)
heed_asset(learn/style ${heed_explain}/explain.css page/learn.css)
heed_asset(learn/scripts ${heed_dom} ${heed_small_map} ${heed_explain}/formulas.js ${heed_explain}/numbers.js
           ${heed_explain}/tables.js ${heed_explain}/terms.js ${heed_explain}/heads.js ${heed_explain}/overview.js ${heed_explain}/panel.js
           page/backward.js page/parameters.js page/first.js page/flow.js page/learn.js)
list(APPEND heed_in_float64 "^tools/extras/gradients/(backward|learn|measure|run)/")
