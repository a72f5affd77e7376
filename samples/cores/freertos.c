/* SPDX-License-Identifier: 0BSD */
/* FreeRTOS with configNUMBER_OF_CORES 2: a task of the firmware on core 1 sleeps until a notification. A notification
 * goes through the kernel, and costs a few hundred instructions; handshake.h is cheaper if core 1 may poll. */
#include "FreeRTOS.h"
#include "task.h"

#include "fork.h"

enum { STACK_WORDS = 512 };
static TaskHandle_t worker, caller;
static struct { cores_part *function; void *argument; int parts; } job;

static void work(void *unused)
{
    (void)unused;
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        for (int part = 1; part < job.parts; part += 2) job.function(job.argument, part);
        xTaskNotifyGive(caller);
    }
}

/* The priority is the caller's, so that neither task delays the other. */
void cores_start(void)
{
    const BaseType_t made = xTaskCreate(work, "cores", STACK_WORDS, NULL, uxTaskPriorityGet(NULL), &worker);
    configASSERT(made == pdPASS);
    vTaskCoreAffinitySet(worker, (UBaseType_t)1 << 1);
}

void cores_fork(int parts, cores_part *function, void *argument)
{
    caller = xTaskGetCurrentTaskHandle();
    job.function = function;
    job.argument = argument;
    job.parts = parts;
    xTaskNotifyGive(worker);
    for (int part = 0; part < parts; part += 2) function(argument, part);
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}
