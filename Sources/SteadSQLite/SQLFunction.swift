import CSteadSQLite

/// An SQL function that SQLite lacks.
///
/// It returns the same for the same arguments, and isn't allowed in a schema: views, triggers, indexes and
/// defaults that name it are refused.
package struct SQLFunction: Sendable {
  package typealias Body =
    @convention(c) @Sendable (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  let name: String
  let arguments: Int32
  let body: Body

  package init(name: String, arguments: Int32, body: @escaping Body) {
    self.name = name
    self.arguments = arguments
    self.body = body
  }

  func register(on handle: OpaquePointer) -> Int32 {
    sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, body,
      nil, nil, nil)
  }
}
