import CachesTestSupport
import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Where a cache's files are, whose they are, and what happens where there can be none.
@Suite(.hangLimit, .serialized) struct DiskPlaceTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.url.appending(path: "cache", directoryHint: .isDirectory) }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func mode(_ name: String) throws -> Int { try url.file(name).mode & 0o777 }

  @Test func `its files are its owner's alone`() throws {
    let cache = DiskCache(directory: url)
    #expect(cache.setData(Data(count: 200_000), for: "a"))
    #expect(try url.mode & 0o777 == 0o700)
    #expect(try mode("values") == 0o700)
    let value = try FileManager.default.contentsOfDirectory(atPath: url.file("values").filePath)[0]
    for file in [
      "DiskCache.sqlite", "DiskCache.sqlite-wal", "DiskCache.sqlite-shm", "changes", "CACHEDIR.TAG",
      "values/\(value)",
    ] {
      #expect(try mode(file) == 0o600, "\(file)")
    }
    let tag = try String(contentsOf: url.file("CACHEDIR.TAG"), encoding: .utf8)
    #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }

  @Test func `it is in the app's cache directory`() throws {
    let home = directory.url.filePath
    let directories = try AppDirectories(id: "org.example.app", environment: ["HOME": home])
    let cache = DiskCache(named: "pictures", in: directories)
    #expect(cache.setData(Data([1]), for: "a"))
    #expect(
      FileManager.default.fileExists(
        atPath: directory.url.file(".cache/org.example.app/pictures/DiskCache.sqlite").filePath))
  }

  @Test(arguments: ["", "..", ".hidden", "a/b", "a\u{0}b"])
  func `refuses names that lead elsewhere`(name: String) throws {
    let directories = try AppDirectories(
      id: "org.example.app", environment: ["HOME": directory.url.filePath])
    let cache = DiskCache(named: name, in: directories)
    #expect(!cache.setData(Data([1]), for: "a"))
    #expect(cache.data(for: "a") == nil)
    #expect(try directory.names == [])
  }

  @Test func `refuses a directory that others may write to`() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    try url.setMode(0o777)
    try expectNothingWorks()
  }

  @Test(arguments: ["", "values"])
  func `refuses a directory that is a link`(name: String) throws {
    let elsewhere = directory.url.appending(path: "elsewhere", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: elsewhere, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    if !name.isEmpty {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
    let link = name.isEmpty ? directory.url.file("cache") : url.file(name)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: elsewhere)
    try expectNothingWorks()
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.filePath) == [])
  }

  @Test(arguments: ["DiskCache.sqlite", "DiskCache.sqlite-wal", "DiskCache.sqlite-shm", "changes"])
  func `replaces a link in the place of a file`(name: String) throws {
    #expect(DiskCache(directory: url).setData(Data([1]), for: "a"))
    let target = directory.file("target")
    try Data("precious".utf8).write(to: target)
    try FileManager.default.removeItem(at: url.file(name))
    try FileManager.default.createSymbolicLink(at: url.file(name), withDestinationURL: target)
    let cache = DiskCache(directory: url)
    #expect(cache.setData(Data([2]), for: "a"))
    #expect(try Data(contentsOf: target) == Data("precious".utf8))
    #expect(!url.file(name).isSymbolicLink)
  }

  private func expectNothingWorks() throws {
    let reports = Reports(for: url)
    let cache = DiskCache(
      path: try url.checkedPath, directory: url, limits: .init(), retryInterval: .zero)
    for _ in 0..<3 {
      #expect(!cache.setData(Data([1]), for: "a"))
      #expect(!cache.setData(Data(count: 200_000), for: "a"))
      #expect(cache.data(for: "a") == nil)
      #expect(cache.totalSize == 0)
      #expect(!cache.writer(for: "a").append(Data(count: 200_000)))
    }
    cache.removeAll()
    #expect(reports.codes == [.cacheUnavailable])
    #expect(reports.problems.first?.message.isEmpty == false)
  }

  @Test(.needs(.smallDisk)) func `a full disk stores nothing and keeps what is there`() throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.url.appending(path: "cache", directoryHint: .isDirectory)
    let reports = Reports(for: url)
    let cache = DiskCache(
      path: try url.checkedPath, directory: url, limits: .init(), retryInterval: .zero)
    #expect(cache.setData(Data("kept".utf8), for: "a"))
    #expect(cache.setData(Data(count: 300_000), for: "large"))
    try disk.fill()
    for number in 0..<20 { cache.setData(Data(count: 10_000), for: "\(number)") }
    #expect(!cache.setData(Data(count: 10_000), for: "b"))
    #expect(!cache.setData(Data(count: 500_000), for: "large"))
    let writer = cache.writer(for: "c")
    writer.append(Data(count: 500_000))
    #expect(!writer.commit())
    #expect(cache.data(for: "a") == Data("kept".utf8))
    #expect(cache.data(for: "large") == Data(count: 300_000))
    #expect(reports.codes == [.cacheFull])
    let names = try FileManager.default.contentsOfDirectory(atPath: url.file("values").filePath)
    #expect(names.count == 1, "drafts that could not be written are removed")
    try disk.empty()
    #expect(cache.setData(Data(count: 10_000), for: "b"))
    #expect(cache.setData(Data(count: 500_000), for: "large"))
    #expect(cache.data(for: "b") == Data(count: 10_000))
    #expect(cache.data(for: "large") == Data(count: 500_000))
  }

  @Test(.needs(.smallDisk)) func `opens once a full disk has room`() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let url = disk.directory.url.appending(path: "cache", directoryHint: .isDirectory)
    let reports = Reports(for: url)
    let cache = DiskCache(
      path: try url.checkedPath, directory: url, limits: .init(), retryInterval: .zero)
    try disk.fill(leaving: 16_384)
    #expect(!cache.setData(Data(count: 100_000), for: "a"))
    #expect(cache.data(for: "a") == nil)
    #expect(reports.codes.count == 1)
    try disk.empty()
    #expect(cache.setData(Data(count: 100_000), for: "a"))
    #expect(cache.data(for: "a") == Data(count: 100_000))
  }

  @Test(.needs(.smallDisk)) func `a read-only disk gives misses`() throws {
    let disk = try SmallDisk()
    try disk.makeReadOnly()
    let url = disk.directory.url.appending(path: "cache", directoryHint: .isDirectory)
    let reports = Reports(for: url)
    let cache = DiskCache(directory: url)
    #expect(!cache.setData(Data([1]), for: "a"))
    #expect(cache.data(for: "a") == nil)
    #expect(reports.codes == [.cacheUnavailable])
  }

  private static let user: uid_t = 12_345

  /// The home of another user, and a cache in it.
  private func anothersCache() throws -> (home: URL, DiskCache) {
    let home = directory.url.appending(path: "home", directoryHint: .isDirectory)
    try directory.url.setMode(0o711)
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try #require(chown(home.filePath, Self.user, Self.user) == 0)
    let directories = try AppDirectories(
      id: "org.example.app", environment: ["HOME": home.filePath])
    return (home, DiskCache(named: "pictures", in: directories))
  }

  /// A program that root runs with `sudo` has the user's HOME, and must leave nothing that locks the user out.
  @Test(.needs(.superuser)) func `the superuser leaves the user's files to the user`() throws {
    let (home, cache) = try anothersCache()
    #expect(cache.setData(Data(count: 200_000), for: "a"))
    #expect(cache.setData(Data(count: 20), for: "b"))
    #expect(cache.data(for: "a") == Data(count: 200_000))
    let all = try FileManager.default.subpathsOfDirectory(atPath: home.filePath)
    #expect(all.count >= 9)
    for path in all {
      var status = stat()
      #expect(lstat(home.file(path).filePath, &status) == 0)
      #expect(status.st_uid == Self.user, "\(path)")
      #expect(status.st_gid == Self.user, "\(path)")
    }
  }

  /// The user may put a link in the place of a directory while root works in it.
  @Test(.needs(.superuser))
  func `the superuser has no more rights in a user's cache than the user`() throws {
    let (_, cache) = try anothersCache()
    let precious = directory.file("precious")
    try Data("precious".utf8).write(to: precious)
    #expect(cache.setData(Data(count: 200_000), for: "a"))
    let values = cache.database.directory.values
    let isRemoved: Bool? = cache.database.write { _, _ in
      try FileManager.default.moveItem(atPath: values, toPath: values + "2")
      try FileManager.default.createSymbolicLink(
        atPath: values, withDestinationPath: directory.url.filePath)
      cache.database.removeFile("precious")
      return true
    }
    #expect(isRemoved == true)
    #expect(try Data(contentsOf: precious) == Data("precious".utf8))
    // Elsewhere this thread is the superuser again.
    #expect(!cache.setData(Data(count: 300_000), for: "b"))
    #expect(try directory.names == ["home", "precious"])
    try FileManager.default.removeItem(at: precious)
  }

  /// The user's link leads to a cache of root's own.
  @Test(.needs(.superuser)) func `the superuser is not led to its own files`() throws {
    let own = directory.url.appending(path: "own/cache", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let (home, _) = try anothersCache()
    let link = home.file("app")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: directory.url.file("own"))
    try #require(lchown(link.filePath, Self.user, Self.user) == 0)
    let cache = DiskCache(directory: link.appending(path: "cache", directoryHint: .isDirectory))
    #expect(!cache.setData(Data([1]), for: "a"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: own.filePath) == [])
  }

  @Test(.needs(.superuser)) func `finds nothing where the user cannot go`() throws {
    let (_, cache) = try anothersCache()
    try directory.url.setMode(0o700)
    let reports = Reports(for: cache.directory)
    #expect(!cache.setData(Data([1]), for: "a"))
    #expect(cache.data(for: "a") == nil)
    #expect(reports.codes == [.cacheUnavailable])
  }
}
