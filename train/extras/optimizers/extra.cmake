# Their loops run over every weight.
list(APPEND heed_heavy_sources train/extras/optimizers/averaged_weights.cpp train/extras/optimizers/muon.cpp)
