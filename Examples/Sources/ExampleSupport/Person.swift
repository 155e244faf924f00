import Foundation

/// A person or a team, and where to write to.
public struct Person: Hashable, Sendable {
  public let name: String
  public let address: String

  public init(name: String, address: String) {
    self.name = name
    self.address = address
  }

  /// `Name <address>`; a text of another form is both.
  public init(_ text: String) {
    guard let open = text.lastIndex(of: "<"), let close = text.lastIndex(of: ">"), open < close
    else {
      self.init(name: text, address: text)
      return
    }
    self.init(
      name: text[..<open].trimmingCharacters(in: .whitespaces),
      address: String(text[text.index(after: open)..<close]))
  }
}

extension Person: CustomStringConvertible {
  public var description: String { name == address ? name : "\(name) <\(address)>" }
}
