import Foundation
import SteadFiles
import SteadTestSupport
import Testing

/// Home directories that are missing or closed to the user: misses, one report for each cache, and the app goes on.
@Suite(.hangLimit) struct HomeTests {
  private static let isPossible = Requirement(
    launcher != nil,
    orElse: "no other user can run the worker: run the tests as root, in a directory all can reach")

  private func expectThatTheAppGoesOn(_ command: [String], home: String) throws {
    let worker = try WorkerProcess(
      ["env", "-u", "XDG_CACHE_HOME"] + command + [WorkerProcess.program("CachesWorker"), "home"])
    let lines = worker.rest()
    #expect(worker.finish() == 0)
    let problems = lines.filter { $0.hasPrefix("cache") }
    let place = home + "/.cache/org.example.app"
    #expect(
      problems == ["cacheUnavailable \(place)/values", "cacheUnavailable \(place)/responses"])
    let round = ["small false", "large false", "found false"]
    #expect(
      lines.filter { !$0.hasPrefix("cache") }
        == round + ["body miss"] + round + ["body hit"] + round + ["body hit", "body miss"])
  }

  /// The home that the system's list of users has is used instead. The test brings a list of its own: whether the
  /// machine's `/nonexistent` exists depends on what other programs did.
  @Test(.needs(isPossible), .needs(hasOwnUsers)) func `no home`() throws {
    let directory = try TemporaryDirectory()
    let home = directory.file("missing").filePath
    let users = try HomeTests.users(home: home, in: directory)
    try expectThatTheAppGoesOn(users + ["env", "-u", "HOME"] + (launcher ?? []), home: home)
    #expect(try directory.names == ["passwd"])
  }

  private static let hasOwnUsers = Requirement(
    (try? TemporaryDirectory()).flatMap { directory in
      (try? users(home: "/", in: directory)).flatMap { try? ToolRun.text($0 + ["true"]) }
    } != nil,
    orElse:
      "no file can be mounted over /etc/passwd: run the tests as root of a Linux that lets it mount"
  )

  /// What to begin a command line with, so that the system's list of users has one user with some home.
  private static func users(home: String, in directory: TemporaryDirectory) throws -> [String] {
    let file = directory.file("passwd")
    try Data("tester:x:\(user):\(user):tester:\(home):/bin/sh\n".utf8).write(to: file)
    let script = "mount --make-rprivate / && mount --bind \"$0\" /etc/passwd && exec \"$@\""
    return ["unshare", "--mount", "bash", "-c", script, file.filePath]
  }

  /// A user whom the list lacks, with a home that isn't absolute: the caches were in the working directory.
  @Test(.needs(isPossible), arguments: ["", "home", "./home"]) func `a home that is not absolute`(
    home: String
  ) throws {
    let directory = try TemporaryDirectory()
    let place = directory.url.filePath
    try directory.url.setMode(0o777)
    let stranger = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    try expectThatTheAppGoesOn(
      ["env", "-C", place, "HOME=\(home)"] + stranger, home: "/var/empty")
    #expect(try directory.names == [])
  }

  @Test(.needs(isPossible)) func `a home that does not exist`() throws {
    let directory = try TemporaryDirectory()
    let home = directory.file("missing/home").filePath
    try expectThatTheAppGoesOn(["env", "HOME=\(home)"] + (launcher ?? []), home: home)
  }

  /// One of another user, and one of this user that has lost its right to write.
  @Test(.needs(isPossible), arguments: [0, user])
  func `a home that cannot be written to`(owner: uid_t)
    throws
  {
    let directory = try TemporaryDirectory()
    #expect(chown(directory.url.filePath, owner, owner) == 0)
    try directory.url.setMode(0o555)
    defer { try? directory.url.setMode(0o755) }
    let home = String(directory.url.filePath.dropLast())
    try expectThatTheAppGoesOn(["env", "HOME=\(home)"] + (launcher ?? []), home: home)
    #expect(try directory.names == [])
  }

  /// The caches' own directories, which can be read and not written.
  @Test(.needs(isPossible)) func `a cache directory that cannot be written to`() throws {
    let directory = try TemporaryDirectory()
    let home = String(directory.url.filePath.dropLast())
    let places = [".cache/org.example.app/values", ".cache/org.example.app/responses"]
    for place in places {
      try FileManager.default.createDirectory(
        at: directory.file(place), withIntermediateDirectories: true)
      #expect(chown(directory.file(place).filePath, HomeTests.user, HomeTests.user) == 0)
      try directory.file(place).setMode(0o555)
    }
    try expectThatTheAppGoesOn(["env", "HOME=\(home)"] + (launcher ?? []), home: home)
    for place in places { try directory.file(place).setMode(0o755) }
  }

  @Test(.needs(.smallDisk)) func `a home on a read-only disk`() throws {
    let disk = try SmallDisk()
    try disk.makeReadOnly()
    let home = String(disk.directory.url.filePath.dropLast())
    try expectThatTheAppGoesOn(["env", "HOME=\(home)"], home: home)
  }

  /// The user who has no rights that others lack.
  private static let user: uid_t = 65_534
}

/// What to begin a command line with for a user who isn't the superuser; nil when there is no way.
private let launcher: [String]? = {
  guard getuid() == 0, let program = try? WorkerProcess.program("CachesWorker") else { return nil }
  let launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  // It ends with the status of a command that it doesn't know.
  let worker = try? WorkerProcess(launcher + [program, "nonsense"])
  return worker?.finish() == 64 ? launcher : nil
}()
