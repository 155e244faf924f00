// The one place that speaks to SQLite: connections that are hardened against crafted files, prepared
// statements, pieces of SQL with their parameters, functions and collations, errors.
//
// Knows nothing of models. Who stands on it says in `SQLiteOptions` what its errors become.
