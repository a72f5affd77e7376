/* SPDX-License-Identifier: MIT */
/* The entry of a program without a C library's: calls main and ends qemu's user mode with its status. */
int main(void);
void _start(void);
void _start(void)
{
    register long status __asm__("a0") = main();
    register long number __asm__("a7") = 94;
    __asm__ volatile("ecall" : : "r"(status), "r"(number));
    for (;;) {}
}
