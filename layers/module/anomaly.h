// Anomaly mode checks every value and gradient as soon as it is computed. The first NaN or infinity
// is an error that names the operation, the layer and the shape. Off by default: each check reads
// the whole array once more.
#pragma once

namespace heed {

// The mode of the calling thread. Operations and backward passes then throw DivergedError.
bool anomaly_mode();
void set_anomaly_mode(bool on);

}  // namespace heed
