import SwiftParser
import Testing

@testable import MacrosUnderTest

/// Only closures' parameters were taken for names of their own, and when a constant was renamed not even these.
@Suite struct FreeNamesTests {
  @Test(arguments: [
    ("make { let x = y; return x }", ["make", "y"]),
    ("make { let x = x; return x }", ["make", "x"]),
    ("make { x in x + $0 } + x", ["make", "$0", "x"]),
    ("make { $0 + $1 } + $2", ["make", "$2"]),
    ("make { [x = y, z] in x + z }", ["make", "y", "z"]),
    ("make { [x = $0] in $0 + x }", ["make", "$0"]),
    ("make { if let x { x } else { x } }", ["make", "x", "x"]),
    ("make { if let x = y, x > 1 { return x }; return x }", ["make", "y", "x"]),
    ("make { guard let x = y else { return x }; return x }", ["make", "y", "x"]),
    ("make { for x in y where x > 1 { z(x) }; return x }", ["make", "y", "z", "x"]),
    ("make { switch y { case .a(let x) where x > z: x; default: x } }", ["make", "y", "z", "x"]),
    ("make { do { try x() } catch { return error } }", ["make", "x"]),
    ("make { func x(a y: Int) -> Int { y + x(a: z) }; return x(a: y) }", ["make", "z", "y"]),
    ("make { var x: Int { let y = 1; return y }; return y + x }", ["make", "y"]),
    ("make { func x(_ a: Int = y) { a }; return x() }", ["make", "y"]),
    ("make { x(); func x() {} }", ["make"]),
    (#"a.x[keyPath: \.x].map(\B.x) + "\(x)""#, ["a", "x"]),
  ])
  func `a name is free unless the expression declares it`(_ source: String, _ names: [String]) {
    #expect(FreeNames(of: Parser.parse(source: source)).uses.map(\.name) == names)
  }
}
