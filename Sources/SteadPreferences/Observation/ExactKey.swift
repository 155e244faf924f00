import SteadFormats

/// A key in a dictionary, told from others by its UTF-8, as domains tell keys apart.
struct ExactKey: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactKey, right: ExactKey) -> Bool { left.text.isSameText(as: right.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }
}
