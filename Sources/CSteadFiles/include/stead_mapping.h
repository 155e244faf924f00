#ifndef STEAD_MAPPING_H
#define STEAD_MAPPING_H

#include <stddef.h>
#include <stdint.h>

// System calls that Swift cannot make, or not the same way everywhere. Those that return an int return
// 0 or the number of the error.

// The lock that an open file has, or the wait for it.
int stead_file_lock(int descriptor);
// The lock, or EWOULDBLOCK where another open file has had it for so long. With 0 it waits for as long as a
// holder takes that is at work, some microseconds. Through the word, if there is one, whoever keeps the lock
// between two writes is asked to free it; stead_kept.h.
int stead_file_lock_within(int descriptor, int64_t microseconds, void *_Nullable kept_lock);
// EWOULDBLOCK where another open file has it.
int stead_file_try_lock(int descriptor);
int stead_file_unlock(int descriptor);

// Makes a file longer, with blocks of the disk behind every byte: where a mapping meets a hole on a
// full disk, the system ends the program. Leaves the file as it was when it fails.
int stead_file_extend(int descriptor, int64_t size, int64_t new_size);

// Whether a file has at least so many bytes; also where the system does not say.
int stead_file_reaches(int descriptor, int64_t size);

// Whether a file has at least so many bytes, and a name; also where the system does not say.
int stead_file_is_whole(int descriptor, int64_t size);

// Writes all of some bytes at a place in a file.
int stead_file_write(int descriptor, const void *_Nonnull bytes, size_t count, int64_t offset);

// Makes a file's contents durable, whichever way they were written.
int stead_file_sync(int descriptor);

// Sets a file's dates to now, which those who watch it notice.
int stead_file_touch(int descriptor);

// Sets the date of a file's last change to now, by a clock that is finer than the one that the system dates
// writes with, so that no write of another program has the same date.
int stead_file_mark(int descriptor);

// Locks all of a file by a record lock, without waiting; EAGAIN or EACCES while another one has it. It ends when the file
// is closed.
int stead_file_lock_record(int descriptor);
// Frees it, also if another descriptor of the same open file exists. Returns an error's number, or 0.
int stead_file_unlock_record(int descriptor);

// Gives a file the date of another file's last change. Returns an error's number, or 0.
int stead_file_copy_date(int descriptor, int other);

// Whether a file is a mount point, as far as the system tells.
int stead_file_is_mount(const char *_Nonnull path);

// Lets two files have each other's names at once. ENOTSUP where the system or the file system cannot.
int stead_file_exchange(const char *_Nonnull path, const char *_Nonnull other);

// A mapping of a file's first bytes that all processes share; NULL leaves the reason in errno.
//
// The child of a fork finds zeros of its own in the place of the bytes, and the descriptor closed: a lock
// belongs to the open file, which a mapping alone keeps open, so the child would keep a lock that the
// parent had when it was killed. The one who mapped it must not close the descriptor in the child.
void *_Nullable stead_map(int descriptor, size_t size, int writable);
// Lets the calling thread take SIGBUS, which it needs before it touches a mapping: the system ends a program by a
// fault whose signal is blocked, without calling the handler. Threads that a program makes with all signals
// blocked, to take them by `sigwait`, have it blocked, and `main` may block it at any time. It costs a system call.
void stead_admit_bus_errors(void);
// The same for reading a word, which must not cost a system call: once in each thread, and a nanosecond after that. A thread
// that blocks the signal later has it blocked until its next other use of a journal.
extern _Thread_local int stead_bus_errors_admitted;
static inline void stead_admit_first_bus_errors(void) {
  if (__builtin_expect(!stead_bus_errors_admitted, 0)) stead_admit_bus_errors();
}

// A word that is not 0 once a mapping has been lost; it can be read for as long as the mapping is there.
//
// When another program cuts the file off, whoever touches what was there finds zeros of the process's own in
// the place of the whole mapping, and does not end by SIGBUS. The handler that does this is installed by the
// first mapping; faults elsewhere go to the handler that was there before.
const uint64_t *_Nonnull stead_map_loss(void *_Nonnull base);
// A word that the process sets, to a number that is not 0, while it keeps the lock of a mapped journal between
// two writes. A fork frees such a lock first, since the child would have it, too, and sets the word to 0. NULL
// where there is no such mapping.
uint64_t *_Nullable stead_map_kept_lock(void *_Nonnull base);
// The same mapping with another size, perhaps at another address; NULL leaves it as it was.
void *_Nullable stead_remap(
  void *_Nonnull base, size_t size, size_t new_size, int descriptor, int writable);
// Has the system give out a mapping's pages for writing at once, which takes a quarter of the time that
// it takes page by page. Does nothing where the system cannot.
void stead_populate(void *_Nonnull start, size_t count);
void stead_unmap(void *_Nonnull base, size_t size);

// Called around a fork, by the handlers in fork.c alone; the second one in the parent.
void stead_mappings_before_fork(void);
void stead_mappings_after_fork(void);
void stead_mappings_in_child(void);

// Milliseconds of a clock that all processes share and that nobody sets.
uint64_t stead_clock(void);

#endif
