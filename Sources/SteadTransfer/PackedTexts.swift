import Foundation

/// Many short strings in little memory: strings that follow each other, as `Draft/12` and `Draft/13` do, are one
/// run, and a digest at the end of a string is kept as bytes.
struct PackedTexts: Equatable, Sendable {
  private var runs: [TextRun] = []
  /// The digests at the ends of the strings, for the runs that have some.
  private var digests = Data()

  init(_ texts: some Sequence<String>) {
    for text in texts { append(text) }
  }

  mutating func append(_ text: String) {
    let bytes = Array(text.utf8)
    let digest = HexadecimalDigest(bytes.suffix(ItemDigest.digitCount))
    let stem = digest == nil ? bytes[...] : bytes.dropLast(ItemDigest.digitCount)
    if let digest { digests.append(contentsOf: digest.bytes) }
    let run = TextRun(stem, hasDigest: digest != nil)
    if runs.isEmpty || !runs[runs.count - 1].absorb(run) { runs.append(run) }
  }

  /// All strings, in order.
  var texts: [String] {
    var rest = digests[...]
    return runs.flatMap { run in
      (0..<run.count).map { index in
        guard run.hasDigest else { return run.text(index) }
        let digest = rest.prefix(ItemDigest.byteCount)
        rest = rest.dropFirst(ItemDigest.byteCount)
        return run.text(index) + HexadecimalDigest(bytes: Array(digest)).text
      }
    }
  }

  var count: Int { runs.reduce(0) { $0 + $1.count } }
}

extension PackedTexts: Codable {
  private enum Keys: String, CodingKey { case runs, digests }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    runs = try fields.decode([TextRun].self, forKey: .runs)
    digests = try fields.decode(Data.self, forKey: .digests)
    // A damaged receipt is an error, and not another one.
    let expected = runs.reduce(0) { $0 + ($1.hasDigest ? $1.count : 0) } * ItemDigest.byteCount
    guard digests.count == expected else {
      throw DecodingError.dataCorruptedError(
        forKey: .digests, in: fields, debugDescription: "The number of digests is wrong.")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(runs, forKey: .runs)
    try fields.encode(digests, forKey: .digests)
  }
}
