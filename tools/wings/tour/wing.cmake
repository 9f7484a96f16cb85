# Needs: lesson pages explain
heed_asset(tour/page page/tour.html HEAD tour)
heed_asset(tour/scripts ${heed_dom} ${heed_explain}/numbers.js ${heed_explain}/tables.js page/tensors.js page/lessons.js
           page/tour.js)
