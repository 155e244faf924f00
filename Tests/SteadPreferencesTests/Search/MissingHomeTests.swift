import Foundation
import SteadFiles
import SteadFormats
import Testing

@testable import SteadPreferences

/// A command-line tool without a home called `set`, ended with 0, and the value was lost. If the superuser ran it, the
/// missing home was created instead.
struct MissingHomeTests {
  private struct Entry: Codable, Identifiable, Sendable { var id: Int }

  private static func environment(_ home: String) -> Preferences.Environment {
    Preferences.Environment(appID: "com.example.tool", variables: ["HOME": home], host: "h")
  }

  @Test func `a tool without a home gets errors from strict changes and from flush`() throws {
    let directory = try TemporaryDirectory()
    let home = directory.file("home").filePath
    let environment = Self.environment(home)
    let preferences = try #require(Preferences(suiteName: nil, environment: environment))
    preferences.onError = { _ in }
    preferences.set("dark", forKey: "theme")
    let changes: [(Preferences) throws -> Void] = [
      { try $0.flush() }, { try $0.strict.set(5, forKey: "size") },
      { try $0.strict.set(URL(filePath: "/x"), forKey: "url") },
      { try $0.strict.removeObject(forKey: "none") },
      { try $0.setPropertyList(.bool(true), forKey: "flag") },
    ]
    for change in changes {
      let error = #expect(throws: PreferencesError.self) { try change(preferences) }
      #expect(error?.code == .unavailable && error?.domain == "com.example.tool")
      #expect(error?.message.contains("home directory does not exist") == true)
      #expect(error?.message.contains("HOME") == true)
    }
    #expect(throws: PreferencesError.self) { try Preferences(environment: environment) }
    #expect(throws: PreferencesError.self) {
      try preferences.strict.set(Self.self, forKey: "none")
    }
    #expect(try directory.names.isEmpty, "the home is never created")
    #expect(preferences.string(forKey: "theme") == "dark")

    // Once the home is mounted, all is written.
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    try preferences.strict.set(6, forKey: "size")
    try preferences.flush()
    let other = try Preferences(environment: Self.environment(home))
    #expect(other.string(forKey: "theme") == "dark" && other.integer(forKey: "size") == 6)
    #expect(other.bool(forKey: "flag") && other.url(forKey: "url")?.path == "/x")
  }

  /// It looked at the object's own domain alone, and a tool that had set another one ended with 0.
  @Test(arguments: [Preferences.globalDomain, "com.example.other"], [false, true])
  func `flush fails while another domain that was set is not stored`(name: String, isFile: Bool)
    throws
  {
    let home = try TestHome()
    let environment = home.environment(appID: "com.example.tool")
    func open() throws -> Preferences {
      let preferences = try Preferences(environment: environment)
      preferences.onError = { _ in }
      return preferences
    }
    let (preferences, other) = (try open(), try open())
    let directory = home.config.appending(path: name)
    var holder: Int32 = -1
    if isFile {
      try home.write(Data("x".utf8), to: directory)
    } else {
      // A stopped process has it locked, and the file for values that wait cannot be made.
      preferences.setPersistentDomain(["old": 1], forName: name)
      let path = directory.file("\(name).journal").filePath
      holder = try POSIXDisk().open(path, O_RDWR, mode: 0)
      #expect(try POSIXDisk().lock(holder, wait: true, path: path))
      for suffix in [""] + (1...8).map({ ".damaged-\($0)" }) {
        try FileManager.default.createDirectory(
          at: directory.file("\(name).waiting\(suffix)"), withIntermediateDirectories: false)
      }
    }
    preferences.setPersistentDomain(["n": 1], forName: name)
    for preferences in [preferences, other] {
      let error = #expect(throws: PreferencesError.self) { try preferences.flush() }
      #expect(error?.code == (isFile ? .unavailable : .locked) && error?.domain == name)
    }
    if isFile { try home.removeFile(directory) } else { close(holder) }
    if isFile { preferences.setPersistentDomain(["n": 1], forName: name) }
    try preferences.flush()
    try other.flush()
    #expect(try open().persistentDomain(forName: name)?["n"] as? Int == 1)
  }

  /// In a container, by a user whom the database lacks: what was set in one working directory was missing in the next,
  /// and `~` in a URL led to whichever it was.
  @Test(
    .exitTests, .needs(.superuser), arguments: [nil, "", "home", "./home"], [nil, "", "base"])
  func `without an absolute HOME nothing is stored in the working directory`(
    home: String?, base: String?
  ) async throws {
    let directory = try TemporaryDirectory()
    for name in ["home", "kept"] {
      try FileManager.default.createDirectory(
        at: directory.file(name), withIntermediateDirectories: false)
      try directory.file(name).setMode(0o777)
    }
    try directory.url.setMode(0o777)
    await #expect(processExitsWith: .success) {
      [place = directory.url.filePath as String, home = home as String?, base = base as String?] in
      for (variable, value) in [("HOME", home), ("XDG_CONFIG_HOME", base)] {
        if let value { setenv(variable, value, 1) } else { unsetenv(variable) }
      }
      #expect(chdir(place) == 0 && setgid(54_321) == 0 && setuid(54_321) == 0)
      Preferences.onError = { _ in }
      for kind in [Preferences(), Preferences(suiteName: "com.example.suite")] {
        let preferences = try #require(kind)
        preferences.set("dark", forKey: "theme")
        #expect(preferences.string(forKey: "theme") == "dark" && !preferences.synchronize())
        #expect(throws: PreferencesError.self) { try preferences.flush() }
        #expect(throws: PreferencesError.self) { try preferences.strict.set(1, forKey: "n") }
      }
      #expect(throws: PreferencesError.self) { try Preferences(domain: "com.example.tool") }

      let kept = try Preferences(
        domain: "a.b", directory: URL(filePath: place + "kept", directoryHint: .isDirectory))
      let file = URL(filePath: place + "home/notes.txt")
      kept.set(file, forKey: "file")
      #expect(kept.string(forKey: "file") == file.path)
      kept.set("~/notes.txt", forKey: "tilde")
      #expect(kept.url(forKey: "tilde")?.path == "/var/empty/notes.txt")
      let names = try FileManager.default.contentsOfDirectory(atPath: place)
      #expect(Set(names) == ["home", "kept"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: place + "home") == [])
    }
  }

  /// With the variables of the process, for every kind of preferences, under every umask.
  @Test(.exitTests, arguments: [0o022, 0o177, 0o777] as [mode_t])
  func `no kind of preferences creates the process's home`(mask: mode_t) async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) {
      [place = directory.url.filePath as String, mask = mask as mode_t] in
      umask(mask)
      let home = place + "home"
      setenv("HOME", home, 1)
      unsetenv("XDG_CONFIG_HOME")
      Preferences.onError = { _ in }
      let kinds: [Preferences?] = [
        Preferences(), Preferences(suiteName: "com.example.suite"),
        Preferences().scopedToCurrentHost(),
      ]
      for kind in kinds {
        let preferences = try #require(kind)
        preferences.set(1, forKey: "n")
        preferences.addSuite(named: "com.example.added")
        preferences.setPersistentDomain(["a": 1], forName: Preferences.globalDomain)
        #expect(!preferences.synchronize())
      }
      #expect(throws: (any Error).self) {
        try Preferences(
          domain: "a.b", directory: URL(filePath: home + "/x", directoryHint: .isDirectory))
      }
      #expect(throws: (any Error).self) {
        try PayloadHistory<Entry>("entries", limit: 5).prepend(Entry(id: 1))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
      try POSIXDisk().makeDirectory(home, mode: 0o755)
      for kind in kinds {
        let preferences = try #require(kind)
        try preferences.strict.set(2, forKey: "n")
        #expect(preferences.synchronize())
      }
      #expect(try URL(filePath: home + "/.config").mode == 0o700)
      let files = try #require(FileManager.default.enumerator(atPath: home))
      for case let file as String in files {
        let url = URL(filePath: home + "/" + file)
        let isDirectory = try POSIXDisk().status(at: url.filePath)?.kind == .directory
        #expect(try url.mode == (isDirectory ? 0o700 : 0o600), "\(file)")
      }
    }
  }
}
