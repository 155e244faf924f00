#include "CSteadSQLite.h"
