import Foundation
import SteadSQLite
import Testing

@Suite("Pieces of SQL") struct FragmentTests {
  @Test func `a value becomes a parameter, and a name is quoted`() {
    let name = SQLName("t", #"a "b""#)
    let fragment: SQLFragment =
      "\(name) = \(SQLValue.text("x'; DROP TABLE item")) AND k = \(form: 3)"
    #expect(fragment.sql == #"t."a ""b""" = ? AND k = 3"#)
    #expect(fragment.bindings == [.text("x'; DROP TABLE item")])
  }

  @Test func `parts keep the order of their parameters`() throws {
    let parts = (1...3).map { number -> SQLFragment in "\(SQLValue.integer(Int64(number)))" }
    let list = SQLFragment.joined(parts, by: ", ")
    let whole: SQLFragment = "SELECT \(list)" + ", \(SQLValue.integer(4))"
    let connection = try SQLiteConnection(SQLiteOptions(.memory))
    #expect(
      try connection.rows(whole.sql, whole.bindings) == [
        (1...4).map { SQLValue.integer(Int64($0)) }
      ])
    #expect(try connection.integer(whole.counted.sql, whole.bindings) == 1)
  }
}
