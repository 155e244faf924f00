#include "CSteadFilesRights.h"

#include <errno.h>

#if defined(__linux__)
#include <sys/fsuid.h>

// These calls say nothing of a failure but what was before, so it is asked for with a number that nobody has.
static uint32_t user_now(void) { return (uint32_t)setfsuid((uid_t)-1); }
static uint32_t group_now(void) { return (uint32_t)setfsgid((gid_t)-1); }

int stead_file_rights_take(stead_file_rights rights, stead_file_rights *before) {
  *before = (stead_file_rights){user_now(), group_now()};
  // The group first, since another user may not choose one.
  (void)setfsgid(rights.group);
  (void)setfsuid(rights.user);
  if (user_now() == rights.user && group_now() == rights.group) return 0;
  stead_file_rights_give_back(*before);
  return EPERM;
}

void stead_file_rights_give_back(stead_file_rights before) {
  (void)setfsuid(before.user);
  (void)setfsgid(before.group);
}
#else
int stead_file_rights_take(stead_file_rights rights, stead_file_rights *before) {
  *before = rights;
  return ENOTSUP;
}

void stead_file_rights_give_back(stead_file_rights before) { (void)before; }
#endif
