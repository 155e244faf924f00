import Foundation
import SteadSyncProtocol

/// Property list values on the wire: data and dates are objects of one member, whose name begins with a dollar sign.
enum PlainValue {
  private static let (data, date) = ("$data", "$date")

  /// nil for what is no property list.
  static func wire(_ value: Any) -> SyncValue? {
    switch value {
    case let flag as Bool: return .bool(flag)
    case let number as Int: return .int(Int64(number))
    case let number as Int64: return .int(number)
    case let number as any BinaryInteger: return Int64(exactly: number).map { .int($0) }
    case let number as Double: return number.isFinite ? .double(number) : nil
    case let number as Float: return number.isFinite ? .double(Double(number)) : nil
    case let text as String: return .string(text)
    case let bytes as Data: return .object([data: .string(bytes.base64EncodedString())])
    case let moment as Date:
      return .object([date: .double(moment.timeIntervalSinceReferenceDate)])
    case let number as NSNumber: return .double(number.doubleValue)
    case let list as [Any]:
      let values = list.compactMap { wire($0) }
      return values.count == list.count ? .array(values) : nil
    case let members as [String: Any]:
      var result: [String: SyncValue] = [:]
      for (name, member) in members {
        guard let value = wire(member) else { return nil }
        // What begins with the sign anyway gets another.
        result[name.hasPrefix("$") ? "$" + name : name] = value
      }
      return .object(result)
    default: return nil
    }
  }

  static func plain(_ value: SyncValue) -> Any? {
    switch value {
    case .null: return nil
    case .bool(let flag): return flag
    case .int(let number): return number
    case .double(let number): return number
    case .string(let text): return text
    case .array(let values): return values.compactMap { plain($0) }
    case .object(let members):
      if members.count == 1, let (name, member) = members.first {
        if name == data { return member.string.flatMap { Data(base64Encoded: $0) } }
        if name == date, let seconds = seconds(member) {
          return Date(timeIntervalSinceReferenceDate: seconds)
        }
      }
      return Dictionary(
        uniqueKeysWithValues: members.compactMap { name, member in
          plain(member).map { (name.hasPrefix("$$") ? String(name.dropFirst()) : name, $0) }
        })
    }
  }

  private static func seconds(_ value: SyncValue) -> Double? {
    switch value {
    case .double(let number): number
    case .int(let number): Double(number)
    default: nil
    }
  }
}
