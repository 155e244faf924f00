import Foundation
import SteadSyncProtocol
import Testing

/// The messages that SyncProtocol.md shows, made by the protocol itself: the devices d1 and d2 with a server.
@Suite struct WalkthroughTests {
  private var server = Zone(MemoryZone())
  private var first = WalkthroughTests.device("c1", "d1")
  private var second = WalkthroughTests.device("c2", "d2")
  private let shown: [Any]
  /// What the page calls the server's tokens.
  private var names: [String: String] = [:]
  /// The server's answer to the last push.
  private var receipt: PushReceipt?

  init() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../Documentation/SyncProtocol.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "\n## An edit, a conflict and a rollback\n")).upperBound
    let end = try #require(text[start...].range(of: "\n## ")).lowerBound
    shown = try text[start..<end].components(separatedBy: "```json\n").dropFirst().map { part in
      let block = try #require(part.components(separatedBy: "```").first)
      return try JSONSerialization.jsonObject(with: Data(block.utf8))
    }
  }

  private static func device(_ client: ClientID, _ device: DeviceID) -> ClientZone<
    MemoryClientStorage
  > {
    ClientZone(
      ClientState(client: client, device: device), storage: MemoryClientStorage(),
      schema: Bench.schema)
  }

  /// Whether a message has all members that the page shows of it, with these values.
  private func expect(_ message: [UInt8], isBlock number: Int) throws {
    var text = String(decoding: message, as: UTF8.self)
    for (token, name) in names { text = text.replacing(token, with: name) }
    let made = try JSONSerialization.jsonObject(with: Data(text.utf8))
    try #require(shown.indices.contains(number))
    #expect(Self.has(made, all: shown[number]), "\(String(decoding: message, as: UTF8.self))")
  }

  private static func has(_ made: Any, all shown: Any) -> Bool {
    switch (made, shown) {
    case (let made as [String: Any], let shown as [String: Any]):
      shown.allSatisfy { name, value in made[name].map { has($0, all: value) } ?? false }
    case (let made as [Any], let shown as [Any]):
      made.count == shown.count && zip(made, shown).allSatisfy(has)
    default: (made as? NSObject) == (shown as? NSObject)
    }
  }

  private mutating func push(
    _ device: WritableKeyPath<Self, ClientZone<MemoryClientStorage>>, token: UInt64
  )
    throws -> Push
  {
    // A second time with the schema, which the server asks for.
    var push = try #require(self[keyPath: device].nextPush())
    var answer = server.apply(push, now: 1_700_000_010_000, token: token)
    self[keyPath: device].receive(answer, to: push, freshClient: "c3")
    if answer.receipt == nil {
      push = try #require(self[keyPath: device].nextPush())
      answer = server.apply(push, now: 1_700_000_010_000, token: token)
      self[keyPath: device].receive(answer, to: push, freshClient: "c3")
    }
    let taken: PushReceipt = try #require(answer.receipt)
    receipt = taken
    if names[Self.hexadecimal(server.storage.state().mark.token)] == nil {
      names[Self.hexadecimal(server.storage.state().mark.token)] = Self.hexadecimal(token)
    }
    return push
  }

  private static func hexadecimal(_ token: UInt64) -> String {
    let digits = String(token, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The server's last mark, as the page calls it.
  private var mark: String {
    let mark = server.storage.state().mark
    let token = Self.hexadecimal(mark.token)
    return "\(mark.head).\(names[token] ?? token)"
  }

  private mutating func pull(_ device: WritableKeyPath<Self, ClientZone<MemoryClientStorage>>)
    -> ChangesAnswer
  {
    let request = self[keyPath: device].nextRequest(limit: 100)
    let answer = server.changes(request, now: 1_700_000_010_000)
    self[keyPath: device].receive(
      answer, to: request, sent: 1_700_000_010_000, now: 1_700_000_010_000, freshClient: "c3")
    return answer
  }

  /// Up to the end of the section "One edit".
  private mutating func edit() throws {
    _ = pull(\.first)
    _ = pull(\.second)
    _ = first.commit(
      [.insert(id: "t1", type: "Task", fields: ["name": "Milk"])], now: 1_700_000_000_000)
    try expect(push(\.first, token: 0xA1).encoded(), isBlock: 0)
    try expect(pull(\.first).encoded(), isBlock: 1)
    #expect(receipt?.head == 1 && receipt?.last == 1)
    #expect(first.state.outbox.isEmpty)
    _ = pull(\.second)
  }

  /// Up to the end of the section "One conflict".
  private mutating func conflict() throws {
    _ = first.commit([.update(id: "t1", fields: ["name": "Oat milk"])], now: 1_700_000_005_000)
    _ = second.commit([.update(id: "t1", fields: ["name": "Soy milk"])], now: 1_700_000_009_000)
    try expect(push(\.second, token: 0xA2).encoded(), isBlock: 2)
    #expect(try push(\.first, token: 0xA3).transactions.map(\.basis) == [1])
    #expect(receipt?.head == 2 && receipt?.last == 2)
    #expect(mark == "2.00000000000000a2")
    _ = pull(\.first)
    _ = pull(\.second)
    #expect(first.record("t1")?.fields["name"]?.value == "Soy milk")
    try expect(try #require(server.storage.record("t1")).encoded(), isBlock: 3)
  }

  @Test func `An edit and a conflict`() throws {
    var walk = self
    try walk.edit()
    try walk.conflict()
  }

  @Test func `A deletion instead of a conflict`() throws {
    var walk = self
    try walk.edit()
    _ = walk.first.commit([.update(id: "t1", fields: ["name": "Oat milk"])], now: 1_700_000_005_000)
    _ = walk.second.commit([.delete(id: "t1")], now: 1_700_000_009_000)
    _ = try walk.push(\.second, token: 0xA2)
    _ = try walk.push(\.first, token: 0xA3)
    _ = walk.pull(\.first)
    #expect(walk.first.record("t1") == nil && walk.first.state.quarantine.isEmpty)
    try walk.expect(try #require(walk.server.storage.record("t1")).encoded(), isBlock: 4)
  }

  @Test func `A rollback`() throws {
    var walk = self
    try walk.edit()
    let backup = walk.server
    try walk.conflict()
    walk.server = backup
    #expect(walk.pull(\.first) == .rollback(common: nil))
    let common = walk.server.storage.state().mark
    #expect(walk.mark == "1.00000000000000a1")
    #expect(walk.pull(\.first) == .rollback(common: common))
    #expect(walk.first.record("t1")?.fields["name"]?.value == "Soy milk")
    // A snapshot, which the restoring transaction is applied to.
    _ = walk.pull(\.first)
    #expect(walk.first.record("t1")?.fields["name"]?.value == "Soy milk")
    try walk.expect(walk.push(\.first, token: 0xB2).encoded(), isBlock: 5)
    _ = walk.pull(\.first)
    #expect(walk.first.state.outbox.isEmpty)
    #expect(walk.mark == "2.00000000000000b2")
    let state = walk.server.storage.record("t1")
    #expect(state?.fields["name"]?.value == "Soy milk")
    #expect(walk.pull(\.second) == .rollback(common: nil))
    _ = walk.pull(\.second)
    _ = walk.pull(\.second)
    // Its restoring transaction changes nothing in the snapshot, so nothing is left of it to push.
    #expect(walk.second.nextPush() == nil)
    #expect(walk.server.storage.record("t1") == state && walk.mark == "2.00000000000000b2")
    #expect(walk.second.record("t1")?.fields["name"]?.value == "Soy milk")
    #expect(walk.second.state.outbox.isEmpty)
    #expect(shown.count == 6)
  }
}
