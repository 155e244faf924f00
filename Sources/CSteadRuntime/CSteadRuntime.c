#include "CSteadRuntime.h"
