# Needs: report
heed_asset(probe/page probe.html HEAD probe)
heed_asset(probe/scripts ${heed_dom} probe.js)
