import Foundation
import SteadSQLite

/// Functions that bring values out of JSON, which has fewer types than columns.
enum ValueFunctions {
  static let all: [SQLFunction] = [
    // From the JSON: SQLite may parse a decimal fraction with an error in the last bit.
    .init(name: "stead_real", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let value = Double(call.string(0)) else { return call.returnNull() }
      call.returns(value)
    },
    // From the bits, as `ListParameter` writes them.
    .init(name: "stead_double", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { return call.returnNull() }
      call.returns(Double(bitPattern: UInt64(bitPattern: call.integer(0))))
    },
    .init(name: "stead_blob", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { return call.returnNull() }
      call.returns(blob: bytes(fromHexadecimal: call.text(0)))
    },
    .init(name: "stead_wrapped", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isText(0), let json = JSONStrings.wrappingNUL(call.text(0)) else {
        return call.returnArgument(0)
      }
      json.withUnsafeBytes { call.returns(text: $0) }
    },
    .init(name: "stead_unwrapped", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let text = JSONStrings.unwrapped(call.text(0)) else {
        return call.returnNull()
      }
      call.returns(text)
    },
    .init(name: "stead_uuid", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let uuid = UUID(uuidString: call.string(0)) else {
        return call.returnNull()
      }
      call.returns(blob: withUnsafeBytes(of: uuid.uuid) { Array($0) })
    },
  ]

  private static func bytes(fromHexadecimal text: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 2)
    var index = 0
    while index + 1 < text.count {
      result.append(digit(text[index]) << 4 | digit(text[index + 1]))
      index += 2
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") ? byte - UInt8(ascii: "a") + 10 : byte - UInt8(ascii: "0")
  }
}
