// A target needs a source.
#include "lock.h"
#include "log.h"
