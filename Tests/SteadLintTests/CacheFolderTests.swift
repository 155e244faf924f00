import Foundation
import SteadLintCommand
import SteadTestSupport
import Testing

/// The linter made `~/.cache` under a umask of 0177 so that nobody could enter it, and all other programs of the user lost
/// their caches.
struct CacheFolderTests {
  @Test(
    .exitTests, arguments: [0o022, 0o177, 0o777] as [mode_t],
    ["home/.cache", "caches", "deep/down/caches"])
  func `the folders of the linter's cache can be entered under any umask`(
    mask: mode_t, folder: String
  ) async throws {
    let directory = try TemporaryDirectory()
    for name in ["home", "project"] {
      try FileManager.default.createDirectory(
        at: directory.file(name), withIntermediateDirectories: false)
    }
    try Data("let a = 1\n".utf8).write(to: directory.file("project/a.swift"))
    await #expect(processExitsWith: .success) {
      [place = directory.url.filePath as String, mask = mask as mode_t, folder = folder as String]
      in
      try Self.run(in: place, folder, mask)
    }
  }

  private static func run(in place: String, _ folder: String, _ mask: mode_t) throws {
    umask(mask)
    setenv("HOME", place + "home", 1)
    unsetenv("XDG_CACHE_HOME")
    if folder != "home/.cache" { setenv("XDG_CACHE_HOME", place + folder, 1) }
    let command = LintCommand(
      directory: URL(filePath: place + "project"), print: { _ in }, complain: { _ in })
    #expect(command.run([]) == .clean)
    var names = folder.split(separator: "/").map(String.init) + ["stead-lint"]
    let last = place + names.joined(separator: "/")
    #expect(try FileManager.default.contentsOfDirectory(atPath: last).count == 1)
    while !names.isEmpty, names != ["home"] {
      let path = names.joined(separator: "/")
      #expect(try URL(filePath: place + path).mode == 0o700, "\(path)")
      names.removeLast()
    }
  }

  /// By a user whom the database lacks, as in a container: the cache was in the project, or in `/home/.cache`. With a home
  /// that was missing, it was created.
  @Test(
    .exitTests, .needs(.superuser),
    arguments: [
      ("", true), ("home", true), ("./home", true), ("missing", true), ("missing", false),
    ])
  func `without a home the linter keeps no cache`(home: String, isStranger: Bool) async throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      at: directory.file("home"), withIntermediateDirectories: false)
    try Data("let a = 1\n".utf8).write(to: directory.file("a.swift"))
    for file in [directory.url, directory.file("home")] { try file.setMode(0o777) }
    await #expect(processExitsWith: .success) {
      [
        place = directory.url.filePath as String, home = home as String,
        isStranger = isStranger as Bool
      ] in
      setenv("HOME", home == "missing" ? place + home : home, 1)
      setenv("XDG_CACHE_HOME", "home", 1)
      #expect(chdir(place) == 0)
      if isStranger { #expect(setgid(54_321) == 0 && setuid(54_321) == 0) }
      let command = LintCommand(
        directory: URL(filePath: place), print: { _ in }, complain: { _ in })
      #expect(command.run([]) == .clean)
      let files = FileManager.default.enumerator(atPath: place)?.compactMap { $0 as? String }
      #expect(Set(files ?? []) == ["home", "a.swift"])
    }
  }
}
