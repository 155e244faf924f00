import Foundation
import Testing

/// Several processes keep secrets in one store at once, and others read it meanwhile.
struct SecretsCrowdTests {
  /// The plaintext store parses all that it has for each call.
  @Test(arguments: [(SharedStore.vault, 100, 2), (SharedStore.plaintext, 15, 1)])
  func losesNoSecret(store: SharedStore, count: Int, readers: Int) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let writers = 4
    let total = writers * count
    let writing = try (0..<writers).map {
      try Worker(store, directory.url, ["write", "w\($0)", "\(count)"])
    }
    let reading = try (0..<readers).map { _ in
      try Worker(store, directory.url, ["read", "\(total)"])
    }
    try Worker.race(writing, reading)

    var expected = ["counter": "\(total)"]
    for writer in 0..<writers {
      for number in 0..<count { expected["w\(writer).\(number)"] = "w\(writer)-\(number)" }
    }
    let contents = try Worker.contents(store, directory.url)
    let wrong = expected.keys.filter { contents[$0] != expected[$0] }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.sorted().prefix(5))")
    #expect(contents.count == expected.count)
  }
}
