import SteadSyncProtocol

/// Feeds decoders with damaged messages, and a server with what they make of them.
///
/// A decoder throws, or makes a value that is the same after another round trip. A server takes or refuses that
/// value. Anything else is a violation, or a trap that ends the process.
package struct DecoderFuzz {
  private var random: SeededGenerator
  private let corpus: [[UInt8]]
  private let server: Zone<MemoryZone>
  /// How many inputs a decoder has taken, and how many of these changed a server.
  package private(set) var accepted = 0
  package private(set) var applied = 0

  /// Numbers and pieces at which decoders fail.
  private static let pieces = [
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "-0", "0.1e-5",
    "null", "true", "\"\"", "[]", "{}", "\\u0000", "\\ud800", "\"v\":1,", "281474976710656",
    "65536",
    "1.7", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\u{FEFF}", "e\u{301}", ",", ":", "{\"", "\\",
  ].map { Array($0.utf8) }

  /// Makes inputs of a seed out of the messages of some histories.
  package init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    var corpus: [[UInt8]] = []
    var server = Zone(MemoryZone())
    for history in UInt64(0)..<3 {
      let (messages, zone) = Simulation.messages(of: History.steps(seed: seed &* 3 &+ history))
      corpus += messages
      server = zone
    }
    self.corpus = corpus.isEmpty ? [Array("{\"v\":1}".utf8)] : corpus
    self.server = server
  }

  /// Tries one input. Throws a ``Violation``.
  package mutating func run() throws {
    let bytes = input()
    try tryDecoding(Push.self, bytes) { $0.serve($1) }
    try tryDecoding(ChangesRequest.self, bytes) { $0.answer($1) }
    try tryDecoding(PushAnswer.self, bytes)
    try tryDecoding(ChangesAnswer.self, bytes)
    try tryDecoding(Record.self, bytes)
    try tryDecoding(Schema.self, bytes)
    try tryDecoding(ClientState.self, bytes)
    try tryDecoding(ZoneState.self, bytes)
    try tryDecoding(SyncValue.self, bytes)
  }

  private mutating func tryDecoding<Value: SyncCodable & Equatable>(
    _: Value.Type, _ bytes: [UInt8], then use: (inout Self, Value) -> Void = { _, _ in }
  ) throws {
    guard let value = try? Value(encoded: bytes) else { return }
    let encoded = value.encoded()
    guard let again = try? Value(encoded: encoded), again == value, again.encoded() == encoded
    else {
      throw Violation(
        16, "Not the same after its encoding: \(String(decoding: bytes, as: UTF8.self))")
    }
    accepted += 1
    use(&self, value)
  }

  private mutating func serve(_ push: Push) {
    var server = server
    let before = server.storage.state()
    // As it is, and as one that this server takes: otherwise most would end at its head or its number.
    for push in [push, fitting(push)] {
      _ = server.apply(push, now: 1_000_000_000, token: 1)
      // Once more, since what the first has stored may be what the second fails at.
      _ = server.apply(push, now: 1_000_000_000, token: 2)
    }
    if server.storage.state() != before { applied += 1 }
  }

  private func fitting(_ push: Push) -> Push {
    var push = push
    push.anchor = server.storage.state().mark
    push.schemaVersion = server.storage.state().schema.version
    push.client = "fuzz"
    for mutation in push.transactions.flatMap(\.mutations) {
      for value in mutation.values.values {
        if let blob = Schema.blob(value) { push.absentBlobs.insert(blob) }
      }
    }
    for index in push.transactions.indices { push.transactions[index].number = Int64(index) + 1 }
    return push
  }

  private mutating func answer(_ request: ChangesRequest) {
    _ = server.changes(request, now: 1_000_000_000)
  }

  private mutating func input() -> [UInt8] {
    var bytes = corpus[random.below(corpus.count)]
    for _ in 0..<(1 + random.below(4)) { damage(&bytes) }
    return bytes
  }

  private mutating func damage(_ bytes: inout [UInt8]) {
    let place = random.below(bytes.count + 1)
    switch random.below(8) {
    case 0: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
    case 1: if place < bytes.count { bytes[place] = UInt8(random.below(256)) }
    case 2: bytes.removeSubrange(place..<min(place + random.below(9), bytes.count))
    case 3: bytes = Array(bytes.prefix(place))
    case 4: bytes.insert(contentsOf: Self.pieces[random.below(Self.pieces.count)], at: place)
    case 5:
      let other = corpus[random.below(corpus.count)]
      bytes.insert(contentsOf: other.dropFirst(random.below(other.count + 1)).prefix(40), at: place)
    default: replaceNumber(&bytes, from: place)
    }
  }

  /// Another number in place of one, which leaves the JSON whole.
  private mutating func replaceNumber(_ bytes: inout [UInt8], from place: Int) {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    guard let start = bytes[place...].firstIndex(where: isDigit) else { return }
    let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
    let numbers = ["0", "1", "2", "63", "65535", "1000060000", "9223372036854775807"]
    bytes.replaceSubrange(start..<end, with: numbers[random.below(numbers.count)].utf8)
  }
}
