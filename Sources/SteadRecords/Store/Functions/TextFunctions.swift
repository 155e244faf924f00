import Foundation
import SteadSQLite

/// String functions with Swift's meaning.
enum TextFunctions {
  static let all: [SQLFunction] = [
    .init(name: "stead_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.contains($0, $1) }
    },
    .init(name: "stead_starts", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.starts($0, $1) }
    },
    .init(name: "stead_has_prefix", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.hasPrefix($0, $1) }
    },
    .init(name: "stead_has_suffix", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.hasSuffix($0, $1) }
    },
    .init(name: "stead_standard_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.standardContains($0, $1) }
    },
    .init(name: "stead_caseless_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.caselessContains($0, $1) }
    },
    .init(name: "stead_count", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0) else { return call.returnNull() }
      let text = call.text(0)
      call.returns(Int64(TextOrder.isPlain(text) ? text.count : call.string(0).count))
    },
    .init(name: "stead_lower", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(call.string(0).lowercased()) }
    },
    .init(name: "stead_upper", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(call.string(0).uppercased()) }
    },
    .init(name: "stead_compare", arguments: 3) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), !call.isNull(1),
        let method = _StringComparisonMethod(rawValue: Int(call.integer(2)))
      else { return call.returnNull() }
      call.returns(Int64(method.compare(call.string(0), call.string(1)).rawValue))
    },
  ]

  private static func test(
    _ call: SQLCall, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) {
    if call.isNull(0) || call.isNull(1) { return call.returnNull() }
    call.returns(body(call.text(0), call.text(1)))
  }
}
