import Foundation

extension Array: @retroactive RawRepresentable where Element: Codable {
  public init?(rawValue: String) {
    guard let items = try? JSONDecoder().decode([Element].self, from: Data(rawValue.utf8)) else {
      return nil
    }
    self = items
  }

  public var rawValue: String {
    (try? String(decoding: JSONEncoder().encode(self), as: UTF8.self)) ?? "[]"
  }
}
