#ifndef STEAD_BIRTH_H
#define STEAD_BIRTH_H

#include <stdint.h>

// When an open file was made, in nanoseconds since 1970; 0 where the system or the file system doesn't know.
//
// No call changes it, and a copy has its own. So it distinguishes a file from an earlier one with the same inode number.
uint64_t stead_file_birth(int descriptor);

#endif
