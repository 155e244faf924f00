import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// Files that cannot be written, are locked, removed, exchanged or cut off while preferences use them.
struct ObstacleTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  private var journal: URL { home.config.appending(path: "app/app.journal") }

  private func open() throws -> Preferences {
    try Preferences(environment: home.environment(appID: "app"))
  }

  /// What another process would find: read anew from the files.
  private func stored(_ preferences: Preferences) throws -> [String: PropertyList] {
    let fields = try preferences.search.list.target.storedContents()
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) })
  }

  // MARK: No writable directory

  @Test(.needs(.smallDisk)) func `keeps in memory what cannot be written and heals`() throws {
    let disk = try SmallDisk()
    try disk.makeReadOnly()
    let config = disk.directory.file("config")
    let environment = Preferences.Environment(
      appID: "app", variables: ["HOME": "/nowhere", "XDG_CONFIG_HOME": config.filePath])
    let preferences = try #require(Preferences(suiteName: nil, environment: environment))
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set(5, forKey: "n")
    preferences.set("text", forKey: "t")
    preferences.removeObject(forKey: "none")
    #expect(preferences.integer(forKey: "n") == 5)
    #expect(preferences.string(forKey: "t") == "text")
    #expect(errors.codes == [.unavailable])
    let message = try #require(preferences.lastError).description
    #expect(message.contains(config.filePath) && message.contains("XDG_CONFIG_HOME"))
    #expect { try preferences.flush() } throws: {
      ($0 as? PreferencesError)?.code == .unavailable
    }
    #expect(!preferences.synchronize())

    try disk.makeWritable()
    preferences.set(6, forKey: "n")
    #expect(try stored(preferences) == ["n": .integer(6), "t": .string("text")])
    try preferences.flush()
    #expect(preferences.synchronize())
  }

  @Test(.needs(.smallDisk)) func `a flush heals`() throws {
    let disk = try SmallDisk()
    try disk.makeReadOnly()
    let environment = Preferences.Environment(
      appID: "app", variables: ["XDG_CONFIG_HOME": disk.directory.url.filePath])
    let preferences = try #require(Preferences(suiteName: nil, environment: environment))
    preferences.onError = { _ in }
    preferences.set(5, forKey: "n")
    try disk.makeWritable()
    try preferences.flush()
    #expect(try stored(preferences) == ["n": .integer(5)])
  }

  /// Once the advice was to make the directory writable, which it was.
  @Test(arguments: [ENODEV, EOPNOTSUPP, ENOLCK])
  func `a file system that cannot lock or map is named`(error: Int32) {
    let file = FileError(errno: error, doing: "map it", path: "/mnt/app.journal")
    let told = PreferencesError(
      notWritten: file, domain: "app", URL(filePath: "/mnt"), values: .memory,
      isRepetition: false)
    #expect(told.message.contains("lacks locks") && !told.message.contains("writable"))
    #expect(told.message.contains("XDG_CONFIG_HOME") && told.code == .unavailable)
    let denied = FileError(errno: EACCES, doing: "open it", path: "/mnt/app.journal")
    let other = PreferencesError(
      notWritten: denied, domain: "app", nil, values: .memory, isRepetition: false)
    #expect(other.message.contains("writable") && !other.message.contains("lacks locks"))
  }

  /// The directory cannot be written, and the journal in it can: nothing is in memory alone, as the error said.
  @Test(.exitTests, .needs(.superuser))
  func `an error says that values are in the journal if they are`()
    async throws
  {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.url.filePath as String] in
      // Permissions don't bind the superuser.
      #expect(chown(path, 65_534, 65_534) == 0 && chmod(path, 0o755) == 0)
      #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
      let place = URL(filePath: path, directoryHint: .isDirectory)
      let store = try DomainStore("app", directory: place, options: DomainStore.Options())
      try store.set(.integer(1), forKey: "a")
      chmod(path, 0o555)
      try store.set(.integer(2), forKey: "a")
      let error = #expect(throws: PreferencesError.self) { try store.checkpoint() }
      let message = try #require(error).message
      #expect(error?.code == .unavailable)
      #expect(message.contains("in the journal") && !message.contains("memory"), "\(message)")
      let other = try DomainStore("app", directory: place, options: DomainStore.Options())
      #expect(other.value(forKey: "a") == .integer(2))
      chmod(path, 0o755)
      try store.checkpoint()
    }
  }

  // MARK: Locks

  /// Another process that is stopped with the lock keeps no reader waiting, and no writer for long.
  @Test func `a stopped holder is not waited for without limit`() throws {
    let preferences = try open()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set(1, forKey: "a")
    let holder = try lock(journal)
    let (hasEnded, waited) = (ForkSafeLock(false), ForkSafeLock(Duration.zero))
    let readsMeanwhile = ForkSafeLock(0)
    try inThreads(2) { thread in
      let start = ContinuousClock.now
      if thread == 0 {
        preferences.set(2, forKey: "a")
        waited.withLock { $0 = ContinuousClock.now - start }
        return hasEnded.withLock { $0 = true }
      }
      // The lock is never free. So whatever ends before the set does has not waited for it.
      while !hasEnded.withLock({ $0 }) {
        _ = preferences.integer(forKey: "a")
        if !hasEnded.withLock({ $0 }) { readsMeanwhile.withLock { $0 += 1 } }
      }
      try ToolRun.text(["true"])
    }
    // If a read waited as the set does, one would end at most.
    #expect(readsMeanwhile.withLock { $0 } > 1)
    #expect(waited.withLock { $0 } >= Journal.lockWaitLimit)
    #expect(preferences.integer(forKey: "a") == 2)
    #expect(errors.codes == [.locked])
    #expect(try stored(preferences) == ["a": .integer(1)])

    unlockAndClose(holder)
    preferences.set(3, forKey: "b")
    #expect(try stored(preferences) == ["a": .integer(2), "b": .integer(3)])
  }

  /// What another process wrote meanwhile to a key that waits does not undo the wait.
  @Test func `what waits is later than what others wrote`() throws {
    let preferences = try open()
    preferences.onError = { _ in }
    let other = try DomainStore(
      "app", directory: home.config.appending(path: "app"), options: DomainStore.Options())
    var hasWaited = false
    // On a busy machine the first thread to run again may write "mine" before the other one writes.
    for _ in 0..<100 where !hasWaited {
      let holder = try lock(journal)
      preferences.set("mine", forKey: "k")
      unlockAndClose(holder)
      try other.set(.string("theirs"), forKey: "k")
      try other.set(.string("more"), forKey: "l")
      hasWaited = preferences.search.list.target.state.withLock {
        $0.file?.hasOwnDeferredWrites == true
      }
    }
    try #require(hasWaited)
    #expect(preferences.string(forKey: "k") == "mine")
    #expect(preferences.string(forKey: "l") == "more")
    try preferences.flush()
    #expect(other.value(forKey: "k") == .string("mine"))
  }

  @Test func `opens beside a stopped holder`() throws {
    try open().set(1, forKey: "a")
    let holder = try lock(journal)
    defer { unlockAndClose(holder) }
    let other = try DomainStore(
      "app", directory: home.config.appending(path: "app"), options: DomainStore.Options())
    #expect(other.value(forKey: "a") == .integer(1))
  }

  @Test func `a synchronize ends beside a locked directory`() throws {
    let preferences = try open()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set(1, forKey: "a")
    let holder = try POSIXDisk().open(
      home.config.appending(path: "app").checkedPath, O_RDONLY | O_DIRECTORY, mode: 0)
    #expect(try POSIXDisk().lock(holder, wait: false, path: ""))
    #expect(!preferences.synchronize())
    #expect(errors.codes.contains(.locked))
    // It said that values were kept in memory, which were in the journal.
    let message = try #require(preferences.lastError).message
    #expect(message.contains("in the journal") && !message.contains("memory"))
    preferences.set(2, forKey: "a")
    #expect(try stored(preferences) == ["a": .integer(2)])
    unlockAndClose(holder)
    #expect(preferences.synchronize())
  }

  // MARK: The file taken away

  @Test func `a flush puts back a removed journal`() throws {
    let preferences = try open()
    preferences.onError = { _ in }
    preferences.set(1, forKey: "a")
    try home.removeFile(journal)
    preferences.set(2, forKey: "b")
    try preferences.flush()
    #expect(try stored(preferences) == ["a": .integer(1), "b": .integer(2)])
  }

  @Test func `a synchronize takes over an exchanged journal`() throws {
    let preferences = try open()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set(1, forKey: "a")
    try preferences.flush()
    let backup = home.directory.file("backup")
    try FileManager.default.copyItem(at: journal, to: backup)
    preferences.set(2, forKey: "a")
    preferences.set(2, forKey: "b")
    preferences.synchronize()
    try POSIXDisk().rename(backup.checkedPath, to: journal.checkedPath)
    preferences.set(3, forKey: "c")
    preferences.synchronize()
    #expect(preferences.integer(forKey: "c") == 3)
    #expect(errors.codes.contains(.damaged))
    #expect(try stored(preferences)["c"] == .integer(3))
  }

  /// Two who share a domain stay together.
  @Test func `two processes meet in the new file`() throws {
    let preferences = try open()
    preferences.onError = { _ in }
    preferences.set(1, forKey: "a")
    let other = try DomainStore(
      "app", directory: home.config.appending(path: "app"), options: DomainStore.Options())
    try home.removeFile(journal)
    preferences.set(2, forKey: "b")
    try other.set(.integer(3), forKey: "c")
    try preferences.flush()
    try other.flush()
    #expect(preferences.integer(forKey: "c") == 3)
    #expect(other.value(forKey: "b") == .integer(2))
    #expect(!FileManager.default.fileExists(atPath: journal.filePath + ".damaged-1"))
  }

  /// Nobody ends by SIGBUS, and what is in memory is written again.
  @Test(arguments: [0, 2_000, 4_096]) func `a cut-off journal costs nothing`(length: Int) throws {
    let preferences = try open()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    let values = (0..<50).map { ("key \($0)", $0) }
    for (key, value) in values { preferences.set(value, forKey: key) }
    #expect(truncate(journal.filePath, off_t(length)) == 0)
    for (key, value) in values { #expect(preferences.integer(forKey: key) == value) }
    preferences.set(1, forKey: "new")
    let found = try stored(preferences)
    #expect(found.count == values.count + 1)
    for (key, value) in values { #expect(found[key] == .integer(Int64(value))) }
    #expect(errors.codes.contains(.damaged))
    // It said that 0 bytes could not be read, and blamed the disk.
    for message in errors.messages { #expect(!message.contains(" 0 bytes"), "\(message)") }
  }

  /// Old values once won, and `set` had acknowledged the new ones.
  @Test(arguments: [false, true], [false, true])
  func `a backup in the place of the journal costs nothing`(
    isMoved: Bool, isPublished: Bool
  ) throws {
    let preferences = try open()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set("old", forKey: "k")
    preferences.set(0, forKey: "removed")
    let backup = home.directory.file("backup")
    try FileManager.default.copyItem(at: journal, to: backup)
    preferences.set("published", forKey: "k")
    preferences.removeObject(forKey: "removed")
    if isPublished { #expect(preferences.synchronize()) }
    preferences.set("new", forKey: "k")
    if isMoved {
      try POSIXDisk().rename(backup.checkedPath, to: journal.checkedPath)
    } else {
      try copyOver(Data(contentsOf: backup))
    }
    try preferences.flush()
    #expect(preferences.string(forKey: "k") == "new")
    preferences.set(1, forKey: "l")
    #expect(try stored(preferences) == ["k": .string("new"), "l": .integer(1)])
    #expect(preferences.synchronize())
    #expect(try stored(preferences) == ["k": .string("new"), "l": .integer(1)])
    #expect(errors.codes.contains(.damaged))
  }

  /// As `cp` does.
  private func copyOver(_ contents: Data) throws {
    let file = try FileHandle(forWritingTo: journal)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: contents)
    try file.close()
  }

  private func lock(_ file: URL) throws -> Int32 {
    let descriptor = try POSIXDisk().open(file.checkedPath, O_RDWR, mode: 0)
    #expect(try POSIXDisk().lock(descriptor, wait: false, path: file.filePath))
    return descriptor
  }
}
