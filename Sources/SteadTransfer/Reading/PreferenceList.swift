import Foundation
import SteadPreferences

/// The value of a key, taken apart into elements.
struct PreferenceList {
  /// One element, as it is stored.
  struct Element {
    var stored: PropertyList

    func identity() throws -> String { try stored.digest() }
    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
      try stored.decoded(as: type)
    }
  }

  let isArray: Bool
  let elements: [Element]

  init(array stored: PropertyList) {
    if case .array(let elements) = stored {
      isArray = true
      self.elements = elements.map(Element.init)
    } else {
      isArray = false
      elements = [Element(stored: stored)]
    }
  }

  /// What to store for those elements that are kept; nil when there are none.
  func stored(_ kept: [Element]) throws -> PropertyList? {
    guard let first = kept.first else { return nil }
    return isArray ? .array(kept.map(\.stored)) : first.stored
  }
}
