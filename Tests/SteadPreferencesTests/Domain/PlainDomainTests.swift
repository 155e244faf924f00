import Foundation
import SteadFiles
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadPreferences

/// Domains on file systems that cannot hold a journal: the property list is the only file.
@Suite(.hangLimit) struct PlainDomainTests {
  private let home: TestHome

  init() throws { home = try TestHome(inMemory: true) }

  private var directory: URL { home.config.appending(path: "app") }
  private var plist: URL { directory.file("app.plist") }
  private var waiting: WaitingFile { WaitingFile(directory.file("app.waiting")) }

  /// A domain that has found that the file system cannot hold a journal.
  private func open(quota: Int? = nil, lockWait: Duration = .zero) throws -> DomainStore {
    let store = try DomainStore(
      "app", directory: directory,
      options: DomainStore.Options(quota: quota, lockWait: lockWait))
    store.state.withLock { state in
      state.file?.isReadOnly = true
      state.file?.becomePlain(
        FileError(errno: ENOLCK, doing: "lock the file", path: directory.filePath))
    }
    return store
  }

  private func stored() throws -> [String: Int] {
    let data = try Data(contentsOf: plist)
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    return list as? [String: Int] ?? [:]
  }

  /// Overwrites the property list in place, by one of the same length.
  private func overwrite(_ value: Int) throws {
    let data = try PropertyListSerialization.data(
      fromPropertyList: ["k": value], format: .binary, options: 0)
    let handle = try FileHandle(forUpdating: plist)
    try handle.write(contentsOf: data)
    try handle.truncate(atOffset: UInt64(data.count))
    try handle.close()
  }

  /// Lets the file look as it does now, as if the last change had come within the tick of the clock in which it was looked at.
  private func hideLastChange(from store: DomainStore) throws {
    let status = try POSIXDisk().statusFollowingLinks(plist.filePath)
    store.state.withLock { state in
      if state.file?.plistState.lastSeen != nil { state.file?.plistState.lastSeen = status }
      if let status { state.file?.plistState.firstSeen?.status = status }
    }
  }

  // The status of a file that was just written or read was remembered at once. A later change in the same tick of the file system's
  // clock, which has up to two seconds, went unnoticed, and the next set undid it.
  @Test func `a change within the same tick of the clock is noticed`() throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    for value in 2...5 {
      try overwrite(value)
      try hideLastChange(from: store)
      if value % 2 == 0 {
        store.refresh()
        #expect(store.value(forKey: "k") == .integer(Int64(value)))
      } else {
        try store.set(.integer(7), forKey: "other")
        #expect(try stored() == ["k": value, "other": 7])
      }
    }
  }

  @Test func `a file that has looked the same for long is not read again`() throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    store.refresh()
    #expect(store.state.withLock { $0.file?.plistState.lastSeen } == nil)
    store.state.withLock { state in
      guard let seen = state.file?.plistState.firstSeen else { return }
      state.file?.plistState.firstSeen = (
        seen.status, seen.time - .seconds(DomainFile.writeGracePeriod + 1)
      )
    }
    #expect(try store.apply([], ifStill: [DomainEdit(key: "k", value: .integer(1))]))
    #expect(store.state.withLock { $0.file?.plistState.lastSeen } != nil)
  }

  // The file of waiting values was only looked for where there is a journal.
  @Test(arguments: [true, false])
  func `values that wait are written with the next change`(isExpected: Bool) throws {
    let store = try open(quota: 40)
    try store.set(.integer(1), forKey: "k")
    var waiting = waiting
    _ = try waiting.append([
      DomainEdit(key: "k", value: .integer(2)), DomainEdit(key: "waited", value: .integer(3)),
    ])
    // Whether the condition holds is decided with the values that waited.
    let expected = DomainEdit(key: "k", value: .integer(isExpected ? 2 : 1))
    let edits = [DomainEdit(key: "new", value: .integer(4))]
    #expect(try store.apply(edits, ifStill: [expected]) == isExpected)
    let values = ["k": 2, "waited": 3].merging(isExpected ? ["new": 4] : [:]) { $1 }
    #expect(try stored() == values)
    #expect(!waiting.isPresent)
    #expect(store.value(forKey: "waited") == .integer(3))
    let error = #expect(throws: PreferencesError.self) {
      try store.set(.string(String(repeating: "a", count: 50)), forKey: "long")
    }
    #expect(error?.code == .quotaExceeded)
  }

  /// Random sequences of sets, with the lock free or not, and values that other programs leave: each key has the last value.
  @Test(arguments: 0..<UInt64(Effort.times(20)))
  func `no value is lost`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let stores = try [open(), open()]
    let lock = PlainFile(plist, lock: directory.file("app.lock"))
    var expected: [String: Int] = [:]
    for number in 1...30 {
      let key = "k\(Int.random(in: 0..<6, using: &random))"
      let store = stores[Int.random(in: 0...1, using: &random)]
      expected[key] = number
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        var waiting = waiting
        _ = try waiting.append([DomainEdit(key: key, value: .integer(Int64(number)))])
        // Before anything newer is set.
        try stores[Int.random(in: 0...1, using: &random)].flushWaiting()
      case 1:
        _ = try lock.withLock {
          #expect(throws: PreferencesError.self) {
            try store.set(.integer(Int64(number)), forKey: key)
          }
        }
        #expect(store.value(forKey: key) == .integer(Int64(number)))
        try store.flush()
      default: try store.set(.integer(Int64(number)), forKey: key)
      }
      #expect(try stored() == expected)
      for store in stores {
        store.refresh()
        #expect(store.value(forKey: key) == .integer(Int64(number)))
      }
    }
  }

  // The message said that they were in a journal, of which there is none.
  @Test func `an error names no journal`() throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    let lock = PlainFile(plist, lock: directory.file("app.lock"))
    let error = try lock.withLock {
      #expect(throws: PreferencesError.self) {
        _ = try store.apply([DomainEdit(key: "k", value: .integer(2))], ifStill: [])
      }
    }
    #expect(error?.code == .locked && error?.message.contains("journal") == false)
    #expect(error?.message.contains("was not made") == true)
    #expect(store.state.withLock { $0.file?.valuesLocation } == .propertyList)
    for code in [FileError.Code.busy, .denied] {
      let told = PreferencesError(
        notWritten: FileError(code: code, message: "", path: "/"), domain: "app", directory,
        values: .propertyList, isRepetition: false)
      #expect(!told.message.contains("journal") && told.message.contains("property list"))
    }
    #expect(store.value(forKey: "k") == .integer(1))
  }

  // A set waited for the lock up to 0.1 s at a time while reads waited for the set.
  @Test func `a set that waits for the lock lets others read`() async throws {
    let store = try open(lockWait: .seconds(60))
    try store.set(.integer(1), forKey: "k")
    let lock = PlainFile(plist, lock: directory.file("app.lock"))
    let isSetting = Mutex(false)
    let (done, continuation) = AsyncStream<Bool>.makeStream()
    try await inOwnThread {
      try lock.withLock {
        Thread.detachNewThread {
          isSetting.withLock { $0 = true }
          let isSet: Void? = try? store.set(.integer(2), forKey: "k")
          continuation.yield(isSet != nil)
        }
        while !isSetting.withLock({ $0 }) { sched_yield() }
        for _ in 0..<1_000 { #expect(store.value(forKey: "k") == .integer(1)) }
      }
    }
    #expect(await done.first { _ in true } == true)
    #expect(try stored() == ["k": 2])
  }
}

extension DomainStore {
  /// What a change of the directory leads to when a file of waiting values has come.
  fileprivate func flushWaiting() throws {
    try changing { replay, file in
      file?.hasWaitingFile = true
      try file?.writeDeferred(&replay)
    }
  }
}
