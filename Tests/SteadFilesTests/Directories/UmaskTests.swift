import Foundation
import Testing

@testable import SteadFiles

/// Under `umask 0177` a program created directories that nobody could enter, `~/.config` among them: the mode was
/// asked for, and the umask took a part of it away.
@Suite struct UmaskTests {
  @Test(.exitTests, arguments: [0, 0o022, 0o077, 0o177, 0o277, 0o377, 0o577, 0o777] as [mode_t])
  func `directories and files get their modes whatever the umask is`(mask: mode_t) async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) {
      [path = directory.url.filePath as String, mask = mask as mode_t] in
      umask(mask)
      try Self.create(in: URL(filePath: path, directoryHint: .isDirectory))
    }
  }

  private static func create(in place: URL) throws {
    let disk = POSIXDisk()
    try disk.makeDirectories(place.file("home/.config/app").filePath)
    try disk.makeDirectory(place.file("alone").filePath, mode: 0o750)
    for name in ["home", "home/.config", "home/.config/app"] {
      #expect(try place.file(name).mode == 0o700, "\(name)")
    }
    #expect(try place.file("alone").mode == 0o750)
    for _ in 0..<2 {
      try PrivateDirectory.create(place.file("run/app").filePath, outside: .process, on: disk)
    }

    let file = AtomicFile(place.file("home/file"))
    try file.create(with: Data([1]))
    try file.replace(with: Data([2]))
    #expect(try place.file("home/file").mode == 0o600)
    try FileLock(place.file("home/lock")).withLock {}
    #expect(try place.file("home/lock").mode == 0o600)
    _ = try BlobStore(directory: place.file("blobs")).write(Data([3]))
    #expect(try place.file("blobs").mode == 0o700)
    // A file that exists keeps its mode, however it is opened.
    try place.file("home/lock").setMode(0o640)
    try FileLock(place.file("home/lock")).withLock {}
    #expect(try place.file("home/lock").mode == 0o640)
  }

  @Test(.exitTests) func `a directory keeps the bits that its parent passes on`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [place = directory.url.filePath as String] in
      #expect(chmod(place, 0o2755) == 0)
      let path = place + "child"
      umask(0o177)
      try POSIXDisk().makeDirectory(path, mode: 0o700)
      #expect(try URL(filePath: path).mode == 0o2700)
    }
  }
}
