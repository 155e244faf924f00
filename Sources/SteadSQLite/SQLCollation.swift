import CSteadSQLite

/// A string collation that SQLite lacks.
package struct SQLCollation: Sendable {
  package typealias Compare =
    @convention(c) @Sendable (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32

  let name: String
  let compare: Compare

  package init(name: String, compare: @escaping Compare) {
    self.name = name
    self.compare = compare
  }

  func register(on handle: OpaquePointer) -> Int32 {
    sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, compare, nil)
  }
}
