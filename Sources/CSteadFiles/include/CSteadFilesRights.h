#ifndef CSTEAD_FILES_RIGHTS_H
#define CSTEAD_FILES_RIGHTS_H

#include <stdint.h>

// The user and the group with whose rights a thread opens files.
typedef struct stead_file_rights {
  uint32_t user;
  uint32_t group;
} stead_file_rights;

// Makes this thread open, make and remove files with the rights of a user and a group, which are the owners of what
// it makes. The thread keeps its further groups. Returns 0, or EPERM where the process may not do this; then nothing
// has changed. ENOTSUP where the system cannot.
int stead_file_rights_take(stead_file_rights rights, stead_file_rights *_Nonnull before);

// Gives the thread back the rights that it had.
void stead_file_rights_give_back(stead_file_rights before);

#endif
