import Foundation
import Testing

@testable import SteadFiles

@Suite(.hangLimit) struct FileWatcherTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  let data = Data("contents".utf8)

  /// Takes changes until all names have been among them.
  private func wait(
    for names: Set<String>, from changes: inout FileWatcher.AsyncIterator
  ) async throws {
    var missing = names
    while !missing.isEmpty { missing.subtract(try #require(await changes.next()).names) }
  }

  @Test func `tells of names that come, change and go`() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    var changes = watcher.makeAsyncIterator()
    try data.write(to: directory.file("a"))
    #expect(await changes.next()?.names == ["a"])
    try FileManager.default.moveItem(at: directory.file("a"), to: directory.file("b"))
    try await wait(for: ["a", "b"], from: &changes)
    try FileManager.default.removeItem(at: directory.file("b"))
    try await wait(for: ["b"], from: &changes)
  }

  @Test(arguments: [
    "come", "be written in place", "be replaced", "be touched", "get other permissions", "go",
  ])
  func `tells that a file did`(what: String) async throws {
    let file = directory.file("a")
    if what != "come" { try data.write(to: file) }
    let watcher = try FileWatcher(file: file)
    var changes = watcher.makeAsyncIterator()
    switch what {
    case "come": try data.write(to: file)
    case "be written in place":
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: Data("more".utf8))
      // Still open, as a journal is.
      #expect(await changes.next()?.names == ["a"])
      try handle.close()
    case "be replaced": try AtomicFile(file).replace(with: Data())
    case "be touched":
      let descriptor = open(file.filePath, O_RDONLY)
      #expect(futimens(descriptor, nil) == 0)
      close(descriptor)
    case "get other permissions": try file.setMode(0o640)
    default: try FileManager.default.removeItem(at: file)
    }
    #expect(await changes.next()?.names == ["a"])
  }

  @Test func `keeps what happens before the first call`() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    for name in ["a", "b", "c"] { try data.write(to: directory.file(name)) }
    var changes = watcher.makeAsyncIterator()
    try await wait(for: ["a", "b", "c"], from: &changes)
  }

  @Test func `passes over what is not asked for`() async throws {
    let watcher = try FileWatcher(file: directory.file("a"))
    var changes = watcher.makeAsyncIterator()
    try data.write(to: directory.file("b"))
    try data.write(to: directory.file("a"))
    #expect(await changes.next()?.names == ["a"])
  }

  @Test func `tells of what a link leads to`() async throws {
    let manager = FileManager.default
    try manager.createDirectory(at: directory.file("dotfiles"), withIntermediateDirectories: false)
    let target = directory.file("dotfiles/settings")
    try data.write(to: target)
    let link = directory.file("a")
    try manager.createSymbolicLink(at: link, withDestinationURL: target)
    let watcher = try FileWatcher(file: link)
    var changes = watcher.makeAsyncIterator()
    try AtomicFile(target).replace(with: Data())
    #expect(await changes.next()?.names == ["a"])
    try manager.removeItem(at: link)
    #expect(await changes.next()?.names == ["a"])
  }

  @Test func `puts together what nobody takes`() async throws {
    let buffer = ChangeBuffer()
    for number in 0..<FileWatcher.nameLimit { buffer.add(.init(names: ["\(number)"])) }
    #expect(buffer.take()?.names.count == FileWatcher.nameLimit)
    #expect(buffer.take() == nil)
    for number in 0...FileWatcher.nameLimit { buffer.add(.init(names: ["\(number)"])) }
    buffer.add(.init(names: ["later"]))
    #expect(buffer.take()?.isEverything == true)
    buffer.add(.init(names: ["a"]))
    buffer.add(.everything)
    #expect(buffer.take()?.isEverything == true)
  }

  @Test func `tells every iterator`() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    var first = watcher.makeAsyncIterator()
    var second = watcher.makeAsyncIterator()
    try data.write(to: directory.file("a"))
    try await wait(for: ["a"], from: &first)
    try await wait(for: ["a"], from: &second)
  }

  @Test func `goes on for as long as it is iterated over`() async throws {
    var changes = try FileWatcher(directory: directory.url).makeAsyncIterator()
    try data.write(to: directory.file("a"))
    try await wait(for: ["a"], from: &changes)
  }

  @Test(arguments: ["removed", "renamed"])
  func `ends with its directory`(what: String) async throws {
    let manager = FileManager.default
    let place = directory.file("place")
    try manager.createDirectory(at: place, withIntermediateDirectories: false)
    let watcher = try FileWatcher(directory: place)
    var changes = watcher.makeAsyncIterator()
    if what == "removed" {
      try manager.removeItem(at: place)
    } else {
      try manager.moveItem(at: place, to: directory.file("elsewhere"))
    }
    #expect(await changes.next()?.isEverything == true)
    #expect(await changes.next() == nil)
    #expect(watcher.isOver)
    // The place may be watched again once it is there.
    try manager.createDirectory(at: place, withIntermediateDirectories: false)
    var again = try FileWatcher(directory: place).makeAsyncIterator()
    try data.write(to: place.appending(path: "a"))
    try await wait(for: ["a"], from: &again)
  }

  @Test func `ends when it is cancelled`() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    var changes = watcher.makeAsyncIterator()
    watcher.cancel()
    watcher.cancel()
    #expect(await changes.next() == nil)
    var late = watcher.makeAsyncIterator()
    #expect(await late.next() == nil)
    #expect(watcher.isOver)
  }

  @Test func `ends with its task`() async throws {
    let watcher = try FileWatcher(directory: directory.url)
    let (started, starting) = AsyncStream<Void>.makeStream()
    let task = Task {
      var count = 0
      for await _ in watcher {
        count += 1
        starting.yield()
      }
      return count
    }
    try data.write(to: directory.file("a"))
    for await _ in started { break }
    task.cancel()
    #expect(await task.value > 0)
    #expect(!watcher.isOver)
  }

  @Test func `calls a function with the names`() async throws {
    let (calls, calling) = AsyncStream<Set<String>>.makeStream()
    let watcher = try FileWatcher(directory: directory.url, names: ["a", "b"]) {
      calling.yield($0)
    }
    for name in ["a", "c", "b"] { try data.write(to: directory.file(name)) }
    var names = Set<String>()
    for await call in calls {
      names.formUnion(call)
      if names.count == 2 { break }
    }
    #expect(names == ["a", "b"])
    watcher.cancel()
  }

  @Test func `says what cannot be watched`() throws {
    try data.write(to: directory.file("a"))
    let missing = #expect(throws: FileError.self) {
      _ = try FileWatcher(directory: directory.file("missing"))
    }
    #expect(missing?.code == .notFound)
    let file = #expect(throws: FileError.self) {
      _ = try FileWatcher(directory: directory.file("a"))
    }
    #expect(file?.code == .notAFile)
  }
}
