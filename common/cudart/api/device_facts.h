// cudaDeviceProp and cudaDeviceGetAttribute, filled from the device file. What a device file does
// not say (texture sizes, the bus, ...) is what recent data-centre GPUs report, or 0 for features
// that warpsim does not have.

#pragma once

#include "cudart/abi.h"
#include "warpsim/device.h"

namespace warpsim::cudart {

void fill_properties(const Device& device, DeviceProp12* properties);
void fill_properties(const Device& device, DeviceProp13* properties);

// False if there is no attribute of this number (cudaDeviceAttr).
bool device_attribute(const Device& device, int attribute, int* value);

}  // namespace warpsim::cudart
