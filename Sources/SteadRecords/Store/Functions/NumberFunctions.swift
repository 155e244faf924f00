import Foundation
import SteadSQLite

/// Arithmetic as in Swift: NaN is a value, and an overflow is none.
enum NumberFunctions {
  static let all: [SQLFunction] = [
    .init(name: "stead_add", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 + $1 }
    },
    .init(name: "stead_subtract", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 - $1 }
    },
    .init(name: "stead_multiply", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 * $1 }
    },
    .init(name: "stead_divide", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 / $1 }
    },
    .init(name: "stead_float", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(Double(Float(call.real(0)))) }
    },
    // SQLite turns an integer that is too large into a floating-point number.
    .init(name: "stead_integer", arguments: 2) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isInteger(0) else { return call.returnNull() }
      let value = call.integer(0)
      if fits(value, call.integer(1)) { call.returns(value) } else { call.returnNull() }
    },
    // The least number by -1 traps in Swift, as its quotient does; SQLite's remainder is 0.
    .init(name: "stead_remainder", arguments: 3) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isInteger(0), call.isInteger(1) else { return call.returnNull() }
      let (value, divisor) = (call.integer(0), call.integer(1))
      let (quotient, isUndefined) = value.dividedReportingOverflow(by: divisor)
      if isUndefined || !fits(quotient, call.integer(2)) { return call.returnNull() }
      call.returns(value % divisor)
    },
  ]

  /// Whether an integer type has a value: one with a number of bits, negative if it is unsigned.
  private static func fits(_ value: Int64, _ bits: Int64) -> Bool {
    bits >= 64 || (bits < 0 ? value >= 0 && value >> -bits == 0 : isSigned(value, bits))
  }

  private static func isSigned(_ value: Int64, _ bits: Int64) -> Bool {
    let rest = value >> (bits - 1)
    return rest == 0 || rest == -1
  }

  private static func apply(_ call: SQLCall, _ body: (Double, Double) -> Double) {
    if call.isNull(0) || call.isNull(1) { return call.returnNull() }
    call.returns(body(call.real(0), call.real(1)))
  }
}
