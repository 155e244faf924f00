/// A dictionary key compared by its UTF-8, as domains compare keys.
///
/// Two strings that Swift treats as equal, since they differ only in normalisation, can be two keys.
struct ExactKey: Hashable, Sendable {
  /// The key.
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactKey, right: ExactKey) -> Bool { left.text.isSameText(as: right.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }
}
