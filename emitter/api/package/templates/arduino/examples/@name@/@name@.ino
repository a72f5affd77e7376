// SPDX-License-Identifier: 0BSD
// Checks the model once, then runs it on samples of a sensor and prints the first output.
#include <@name@_arduino.h>
#include "sensor.h"

static @NAME@_ARENA(arena);
@arrays@

void setup()
{
    Serial.begin(115200);
#ifndef @NAME@_NO_SELFTEST
    const long wrong = @name@_selftest(arena);
    Serial.print("wrong elements in the self-test: ");
    Serial.println(wrong);
#endif
@reset@
}

void loop()
{
    const struct @name@_inputs in = { @in@ };
    const struct @name@_outputs out = { @out@ };
@fill@
    const int status = @name@_run(@run@);
    Serial.print("status ");
    Serial.print(status);
    for (unsigned i = 0; i < sizeof @first_out@ / sizeof @first_out@[0]; i++) {
        Serial.print(' ');
        Serial.print((@printed@)@first_out@[i]);
    }
    Serial.println();
    delay(1000);
}
