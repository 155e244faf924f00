// The only module that calls SQLite: connections that are hardened against crafted files, prepared
// statements, SQL fragments with their parameters, functions and collations, errors.
//
// It knows nothing of models. Its clients set in `SQLiteOptions` what its errors become.
