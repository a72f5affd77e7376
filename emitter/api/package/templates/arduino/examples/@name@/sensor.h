// SPDX-License-Identifier: 0BSD
// Yours: `loopwright package` writes this file once, and keeps it.
#ifndef SENSOR_H
#define SENSOR_H
#include <Arduino.h>

// Returns one sample in the model's units, as in training. A stub: replace it by your sensor.
static float read_sensor(void) { return (float)(analogRead(A0) & 127); }

#endif
