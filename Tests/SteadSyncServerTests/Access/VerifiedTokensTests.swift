#if Server
import Foundation
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// What ``AccessTokenTests`` doesn't ask of tokens that were seen before.
@Suite struct VerifiedTokensTests {
  private let directory: TemporaryDirectory
  private let time = TestClock()
  private let keys: SigningKeys

  init() throws {
    directory = try TemporaryDirectory()
    keys = try SigningKeys(directory: directory.path, clock: time.clock)
  }

  private func signed(_ device: String) throws -> String {
    try AccessToken(account: "anna", device: device).signed(with: keys, clock: time.clock)
  }

  @Test func `a key that is removed verifies nothing that it verified before`() throws {
    let tokens = VerifiedTokens(keys: keys, clock: time.clock)
    let text = try signed("d1")
    #expect(try tokens.token(text).device == "d1")
    try FileManager.default.removeItem(atPath: directory.path + "/signing-keys.json")
    _ = try SigningKeys(directory: directory.path, clock: time.clock)
    try keys.reload()
    #expect(throws: ServerError.self) { try tokens.token(text) }
  }

  @Test func `another key of the same name verifies nothing either`() throws {
    let tokens = VerifiedTokens(keys: keys, clock: time.clock)
    let (text, name) = (try signed("d1"), try keys.newest.name)
    #expect(try tokens.token(text).device == "d1")
    let path = directory.path + "/signing-keys.json"
    try FileManager.default.removeItem(atPath: path)
    let other = try SigningKeys(directory: directory.path, clock: time.clock).newest.name
    let file = try String(contentsOfFile: path, encoding: .utf8)
    // Written over the file, so that it stays its owner's alone.
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data(file.replacingOccurrences(of: other, with: name).utf8))
    try handle.close()
    try keys.reload()
    #expect(try keys.newest.name == name)
    #expect(throws: ServerError.self) { try tokens.token(text) }
  }

  @Test func `no more are held than the limit`() throws {
    let tokens = VerifiedTokens(keys: keys, clock: time.clock, limit: 10)
    let texts = try (0..<25).map { try signed("d\($0)") }
    for (index, text) in texts.enumerated() {
      #expect(try tokens.token(text).device == "d\(index)")
      #expect((1...10).contains(tokens.count))
    }
    time.advance(seconds: AccessToken.lifetime)
    let fresh = try (0..<6).map { try signed("e\($0)") }
    for text in fresh { _ = try tokens.token(text) }
    #expect(tokens.count == 6)
  }
}
#endif
