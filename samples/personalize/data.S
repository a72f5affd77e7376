/* SPDX-License-Identifier: MIT */
/* The samples as they are in the files. */
#define FILE(name, path) .global name; .balign 16; name: .incbin path
    .section .rodata
    FILE(train_features, "new_speaker_train.npy")
    FILE(train_labels, "new_speaker_train_labels.npy")
    FILE(test_features, "new_speaker_test.npy")
    FILE(test_labels, "new_speaker_test_labels.npy")
    .balign 4
    .global train_count
train_count: .long 200
    .global test_count
test_count: .long 100
#ifdef __ELF__
    .section .note.GNU-stack,"",%progbits
#endif
