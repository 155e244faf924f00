#ifndef CSTEAD_SECRETS_H
#define CSTEAD_SECRETS_H

#include <stddef.h>

#include "stead_glib.h"

// Sets bytes to zero, even where the compiler sees that nobody reads them again.
void stead_wipe(void *bytes, size_t count);

#endif
