import Foundation
import Testing

/// A process may end at any moment. What `set` has returned for is there afterwards; the one change that
/// was under way is there or not, whole; nothing else is touched, and the store always opens.
struct SecretsKillTests {
  @Test(arguments: [
    (SharedStore.vault, 1, 30), (SharedStore.vault, 2, 20), (SharedStore.plaintext, 1, 20),
  ])
  func losesNothing(store: SharedStore, writers: Int, kills: Int) throws {
    let kills = Effort.times(kills, long: kills * 20)
    let seed = Effort.seed
    let directory = try TemporaryDirectory(inMemory: true)
    var run = KilledWriters((0..<writers).map { "w\($0)" }, seed: seed) { name in
      try Worker(store, directory.url, ["step", name, "\(seed)"])
    } fail: {
      Issue.record("\(store), seed \(seed): \($0)")
    }
    for _ in 0..<kills { try run.kill(after: 20) }
    run.end()
    run.check(try Worker.contents(store, directory.url))
    // The kills have met what they were meant to meet.
    #expect(run.changesDone > kills * 5)
    #expect(run.killsInChanges > kills / 20)
    #expect(run.killsInOpening > 0)
    // Half-made files are not left behind for ever.
    let place = store == .vault ? directory.url.file("vault") : directory.url
    let names = try FileManager.default.contentsOfDirectory(atPath: place.filePath)
    #expect(names.count <= 4, "\(names)")
  }
}
