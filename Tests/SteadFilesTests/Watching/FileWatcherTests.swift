import Foundation
import Testing

@testable import SteadFiles

@Suite(.timeLimit(.minutes(1))) struct FileWatcherTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func tellsOfNamesThatComeChangeAndGo() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    var changes = watcher.makeAsyncIterator()
    let file = directory.file("a")
    try Data("1".utf8).write(to: file)
    #expect(await changes.next()?.names == ["a"])
    try AtomicFile(directory.file("b")).replace(with: Data())
    var names = Set<String>()
    while !names.contains("b") { names.formUnion(try #require(await changes.next()).names) }
    try FileManager.default.moveItem(at: file, to: directory.file("c"))
    while !names.isSuperset(of: ["a", "c"]) {
      names.formUnion(try #require(await changes.next()).names)
    }
  }
}
