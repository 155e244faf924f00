#ifndef CFORK_SUPPORT_H
#define CFORK_SUPPORT_H

#include <sys/types.h>

// Swift does not let a program call fork. The child has the calling thread and no other, so it may not
// use Dispatch, nor wait for a task.
pid_t stead_test_fork(void);

// Waits for a child to end: its exit status, or minus the number of the signal that killed it.
int stead_test_wait(pid_t child);

// Ends the child without what `exit` would do a second time, such as writing out the parent's buffers.
_Noreturn void stead_test_exit(int status);

// Copies the sixteen vector registers, 16 bytes of each.
void stead_test_store_vectors(void *target);

// Fills the vector registers, calls a function, and returns how many of them are as they were.
int stead_test_vectors_left_by(void (*function)(void));

#endif
