#ifndef CSTEAD_SQLITE_H
#define CSTEAD_SQLITE_H

#if !__has_include(<sqlite3.h>)
#error "SQLite's header is missing. Install libsqlite3-dev (Debian, Ubuntu), sqlite-devel (Fedora, Amazon Linux), sqlite3-devel (openSUSE), sqlite (Arch) or sqlite-dev (Alpine)."
#endif

#include <sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3035000
#error "SQLite 3.35 or newer is needed: older ones have no RETURNING."
#endif

// sqlite3_db_config takes its arguments as C's variadic functions do, which Swift cannot call.

/// Turns a setting of a connection on or off. Returns SQLite's code.
static inline int stead_sqlite_set(sqlite3 *_Nonnull connection, int setting, int value) {
  return sqlite3_db_config(connection, setting, value, (int *)0);
}

#endif
