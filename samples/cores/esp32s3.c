/* SPDX-License-Identifier: 0BSD */
/* ESP32-S3 under ESP-IDF: a task of the firmware on core 1. It sleeps between runs, and polls during a run: surround
 * each run by cores_begin and cores_end. Both cores read and write the internal memory without a cache, so the arena
 * has to be there (MALLOC_CAP_INTERNAL), not in PSRAM. Call the run from a task on core 0. */
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "handshake.h"

void cores_begin(void);
void cores_end(void);

enum { STACK_BYTES = 4096, PRIORITY = 5 };
static TaskHandle_t worker;

static void work(void *unused)
{
    (void)unused;
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        cores_work(1);
    }
}

void cores_start(void)
{
    const BaseType_t made = xTaskCreatePinnedToCore(work, "cores", STACK_BYTES, NULL, PRIORITY, &worker, 1);
    configASSERT(made == pdPASS);
}

void cores_begin(void) { xTaskNotifyGive(worker); }
void cores_end(void) { cores_fork(0, NULL, NULL); }
