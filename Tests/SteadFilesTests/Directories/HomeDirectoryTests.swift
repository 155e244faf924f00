import Foundation
import Testing

@testable import SteadFiles

#if !canImport(Darwin)
  /// A program of the superuser that had no home created `/nonexistent`, or the mount point of a home that wasn't
  /// mounted yet. Other programs then took that directory for the home.
  @Suite struct HomeDirectoryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func directories(home: String) throws -> AppDirectories {
      try AppDirectories(
        id: "com.example.notes", environment: ["HOME": home, "TMPDIR": home + "/tmp"])
    }

    /// Everything that creates directories.
    private static let creations: [@Sendable (AppDirectories) throws -> Void] = [
      { try $0.create(\.documents) }, { try $0.create(\.data) }, { try $0.create(\.config) },
      { try $0.create(\.cache) }, { try $0.create(\.state) }, { try $0.create(\.logs) },
      { try $0.create(\.temporary) }, { try $0.create(\.runtime) },
      { try $0.createShared(group: "group.com.example") },
    ]

    @Test(arguments: creations.indices) func `a home that an environment names is not created`(
      number: Int
    ) throws {
      let home = directory.file("missing/home")
      let create = Self.creations[number]
      let error = #expect(throws: FileError.self) { try create(directories(home: home.filePath)) }
      #expect(error?.isMissingHome == true && error?.code == .notFound)
      #expect(error?.path == home.filePath)
      #expect(try directory.names.isEmpty)
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      try create(directories(home: home.filePath))
    }

    @Test(.exitTests) func `the process's home is not created for any path in it`() async throws {
      await #expect(processExitsWith: .success) { [place = directory.url.filePath as String] in
        let home = place + "not mounted/me"
        setenv("HOME", home, 1)
        for variable in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR"] { unsetenv(variable) }
        let below = URL(filePath: home + "/data/blobs", directoryHint: .isDirectory)
        #expect(throws: FileError.self) { _ = try BlobStore(directory: below).write(Data([1])) }
        #expect(throws: FileError.self) { try AppDirectories(id: "a.b").create(\.data) }
        #expect(throws: FileError.self) { try POSIXDisk().makeDirectories(home) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        // What isn't in the home is created, whatever becomes of the home.
        try POSIXDisk().makeDirectories(place + "elsewhere/data")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try AppDirectories(id: "a.b").create(\.data)
        _ = try BlobStore(directory: below).write(Data([1]))
      }
    }

    /// Foundation takes such a `HOME` as it is for a user whom the database lacks, as in a container: each working
    /// directory had data of its own.
    @Test(
      .exitTests, .needs(.superuser), arguments: [nil, "", "home", "./home", "~/home"],
      [nil, "", "base"])
    func `without an absolute HOME, a user whom the database lacks has no home`(
      home: String?, base: String?
    ) async throws {
      let directory = try TemporaryDirectory()
      try FileManager.default.createDirectory(
        at: directory.file("home"), withIntermediateDirectories: false)
      try directory.url.setMode(0o777)
      try directory.file("home").setMode(0o777)
      await #expect(processExitsWith: .success) {
        [place = directory.url.filePath as String, home = home as String?, base = base as String?]
        in
        let bases = ["DATA", "CONFIG", "CACHE", "STATE"].map { "XDG_\($0)_HOME" }
        for (variable, value) in [("HOME", home)] + bases.map({ ($0, base) }) {
          if let value { setenv(variable, value, 1) } else { unsetenv(variable) }
        }
        #expect(chdir(place) == 0 && setgid(54_321) == 0 && setuid(54_321) == 0)
        let directories = try AppDirectories(id: "com.example.notes")
        #expect(directories.data.filePath == "/var/empty/.local/share/com.example.notes/")
        #expect(directories.home == .process)
        for create in Self.creations.prefix(6) {
          #expect(throws: FileError.self) { try create(directories) }
        }
        let files = FileManager.default.enumerator(atPath: place)?.compactMap { $0 as? String }
        #expect(files == ["home"])
      }
    }

    /// The same home by other paths: with dots, double slashes, and through links.
    @Test func `a home is recognized by any path`() throws {
      var random = SplitMix(seed: 4_711)
      let real = directory.file("real/users")
      try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: directory.file("link"), withDestinationURL: directory.file("real"))
      try FileManager.default.createSymbolicLink(
        at: directory.file("deep"), withDestinationURL: real)
      let bases = ["real/users", "link/users", "deep", "real/../link/users", "deep/../users"]
      func path() -> String {
        let base = bases.randomElement(using: &random) ?? ""
        let parts = (base + "/me").split(separator: "/").map { part in
          part + (["/", "//", "/./"].randomElement(using: &random) ?? "/")
        }
        return directory.url.filePath + parts.joined()
      }
      for _ in 0..<Effort.times(300) {
        let (home, other) = (path(), path())
        let rest = ["", "a", "a/b", ".config//c"].randomElement(using: &random) ?? ""
        let named = HomeDirectory(URL(filePath: home, directoryHint: .isDirectory))
        let error = #expect(throws: FileError.self, "\(home) is \(other)") {
          try POSIXDisk().makeDirectories(other + rest, outside: named)
        }
        #expect(error?.isMissingHome == true, "\(home) is \(other)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: real.filePath) == [])
      }
      // A neighbour of the home isn't the home.
      let home = HomeDirectory(real.file("me"))
      try POSIXDisk().makeDirectories(real.file("you/me").filePath, outside: home)
      try POSIXDisk().makeDirectories(real.file("me2").filePath, outside: home)
    }
  }
#endif
