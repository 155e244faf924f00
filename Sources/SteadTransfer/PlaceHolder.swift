/// What has the place of an element.
enum PlaceHolder: Equatable {
  /// Something in the destination, by its place there.
  case stored(String)
  /// Another element of the batch, by its index.
  case element(Int)

  var isElement: Bool {
    if case .element = self { true } else { false }
  }

  /// Why an element is not written whose unique value is taken.
  static func reason(ofUniqueValue holder: PlaceHolder?) -> String {
    switch holder {
    case .element: "another item has its unique value already"
    case .stored: "a record has its unique value already"
    case nil: "a record or another item has its unique value already"
    }
  }
}
