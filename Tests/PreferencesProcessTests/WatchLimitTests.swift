import Foundation
import SteadPreferences
import Testing

/// Processes that the system has no watch left for.
@Suite(.hangLimit, .ownThread) struct WatchLimitTests {
  /// Once its observers heard of nothing any more, and nobody was told.
  @Test(.needs(.watchLimits))
  func `changes are told without a watch and by one later`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    preferences.set(0, forKey: "key")
    let (release, errors) = (directory.file("release"), directory.file("errors"))
    #expect(mkfifo(release.filePath, 0o600) == 0)
    let script = """
      limit=/proc/sys/user/max_inotify_instances
      echo 0 >$limit
      { timeout 100 cat "$1" && echo 10 >$limit; } >/dev/null &
      errors="$2"
      shift 2
      exec "$@" 2>"$errors"
      """
    let worker = try Worker(
      directory.url, ["follow"],
      launcher: Requirement.ownLimits
        + ["bash", "-c", script, "limited", release.filePath, errors.filePath])
    try #require(worker.line() == "ready")
    for number in 1...2 {
      preferences.set(number, forKey: "key")
      #expect(worker.line() == "other key integer \(number)")
    }
    #expect(worker.inotifyDescriptors == 0)
    let told = try String(contentsOf: errors, encoding: .utf8)
    #expect(
      told.split(separator: "\n").count == 1 && told.contains("max_user_watches"), "\(told)")
    // Opening it waits for the reader.
    try FileHandle(forWritingTo: release).close()
    var number = 2
    while worker.inotifyDescriptors == 0, number < 100 {
      number += 1
      preferences.set(number, forKey: "key")
      #expect(worker.line() == "other key integer \(number)")
    }
    #expect(worker.inotifyDescriptors == 1)
    for _ in 0..<100 {
      number += 1
      preferences.set(number, forKey: "key")
      #expect(worker.line() == "other key integer \(number)")
    }
  }

  /// A directory that a tool moves away: who has it open puts the journal back, and watches the new one.
  @Test func `a directory that is moved away is watched again`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let place = directory.file("place")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    let worker = try Worker(place, ["follow"])
    try #require(worker.line() == "ready")
    for round in 1...3 {
      try FileManager.default.moveItem(at: place, to: directory.file("moved \(round)"))
      let journal = place.file("domain.journal").filePath
      // Another process makes it, and nothing but its presence tells; after a minute the test fails.
      for _ in 0..<6_000 where access(journal, R_OK) != 0 { usleep(10_000) }
      // Another process's, so that no object of the last round has the old files open.
      let writer = try Worker(place, ["follow"])
      try #require(writer.line() == "ready")
      writer.send("set key \(round)")
      #expect(writer.line() == "own key integer \(round)")
      var line = worker.line()
      while line?.hasPrefix("error The journal") == true { line = worker.line() }
      #expect(line == "other key integer \(round)")
    }
    // Another process opens it, which no event tells; after a minute the test fails.
    for _ in 0..<6_000 where worker.inotifyDescriptors != 1 { usleep(10_000) }
    #expect(worker.inotifyDescriptors == 1)
  }
}

extension Requirement {
  /// Begins a command line whose program may set limits of its own.
  fileprivate static let ownLimits = ["unshare", "--user", "--map-root-user"]

  fileprivate static let watchLimits = Requirement(
    (try? ToolRun.text(
      ownLimits + ["sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances"])) != nil,
    orElse:
      "limits of watches cannot be set: run the tests on a Linux that lets users have name spaces")
}

extension WorkerProcess {
  /// How many of its descriptors are of watches.
  fileprivate var inotifyDescriptors: Int {
    let place = "/proc/\(id)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    return names.count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place + "/" + name)
      return target?.contains("inotify") == true
    }
  }
}
