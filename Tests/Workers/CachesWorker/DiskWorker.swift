import Foundation
import SteadCaches
import SteadSQLite
import SteadTestSupport

/// What a second process does with a cache on disk.
enum DiskWorker {
  /// How many keys the workers share.
  static let keyCount: UInt64 = 60

  /// Runs a command, and says whether it is one that it knows.
  static func run(_ arguments: [String]) throws -> Bool {
    let words = arguments.dropFirst(2)
    guard arguments.count >= 2 else { return false }
    let url = URL(filePath: arguments[1], directoryHint: .isDirectory)
    switch (arguments[0], words.first.flatMap { UInt64($0) }) {
    case ("disk-crowd", .some(let seed)): crowd(url, seed: seed)
    case ("disk-changes", .some(let seed)): changes(url, seed: seed)
    case ("disk-lock", _): try holdLock(url)
    case ("disk-snapshot", _): try holdSnapshot(url)
    case ("disk-set", _):
      say("\(DiskCache(directory: url).setData(Data("theirs".utf8), for: words.first ?? ""))")
    case ("disk-serve", _): serve(url)
    default: return false
    }
    return true
  }

  /// A value that tells which key it belongs to: large or small, and other bytes each time.
  static func value(_ number: UInt64, _ random: inout SplitMix) -> Data {
    let size = number.isMultiple(of: 10) ? 140_000 : Int(number) * 400
    var data = Data("\(number) ".utf8)
    var source = SplitMix(seed: random.next())
    while data.count < size { withUnsafeBytes(of: source.next()) { data.append(contentsOf: $0) } }
    return data
  }

  static func isValue(_ data: Data, of number: UInt64) -> Bool {
    data.starts(with: Data("\(number) ".utf8))
  }

  /// Sets and gets together with others, and says how large the cache was at most.
  private static func crowd(_ url: URL, seed: UInt64) {
    let cache = DiskCache(directory: url, limits: .init(totalSizeLimit: 400_000))
    WorkerMain.waitForStart()
    var random = SplitMix(seed: seed)
    var (greatest, stored) = (0, 0)
    for _ in 0..<300 {
      let number = UInt64.random(in: 0..<keyCount, using: &random)
      if Bool.random(using: &random) {
        if cache.setData(value(number, &random), for: "\(number)") { stored += 1 }
      } else if let found = cache.data(for: "\(number)"), !isValue(found, of: number) {
        say("error: wrong bytes for \(number)")
      }
      greatest = max(greatest, cache.totalSize)
    }
    say("\(greatest) \(stored)")
  }

  /// Changes a cache without end, and says what it finds that was never set.
  private static func changes(_ url: URL, seed: UInt64) {
    let cache = DiskCache(directory: url, limits: .init(totalSizeLimit: 1_000_000))
    var random = SplitMix(seed: seed)
    for number in 0..<keyCount {
      if let found = cache.data(for: "\(number)"), !isValue(found, of: number) {
        say("error: wrong bytes for \(number)")
      }
    }
    say("opened")
    while true {
      let number = UInt64.random(in: 0..<keyCount, using: &random)
      switch UInt64.random(in: 0..<8, using: &random) {
      case 0: cache.removeValue(for: "\(number)")
      case 1: cache.removeValues(taggedWith: "\(number % 4)")
      case 2:
        let writer = cache.writer(for: "\(number)", tags: ["\(number % 4)"])
        writer.append(value(number, &random))
        writer.append(Data(count: 70_000))
        writer.commit()
      default: cache.setData(value(number, &random), for: "\(number)", tags: ["\(number % 4)"])
      }
    }
  }

  /// Takes the lock that SQLite's writers have on the log's index, and stops.
  private static func holdLock(_ url: URL) throws {
    let descriptor = open(url.file("DiskCache.sqlite-shm").filePath, O_RDWR)
    // <https://sqlite.org/walformat.html>: WAL_WRITE_LOCK.
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 120
    lock.l_len = 1
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw POSIXError(.EAGAIN) }
    say("locked")
    raise(SIGSTOP)
  }

  /// Stops while it reads, and reads to the end once it goes on.
  private static func holdSnapshot(_ url: URL) throws {
    let file = try SQLiteConnection(SQLiteOptions(.file(url.file("DiskCache.sqlite").filePath)))
    try file.run("BEGIN")
    let before = try file.integer("SELECT count(*) FROM contents")
    say("reading")
    raise(SIGSTOP)
    let after = try file.integer("SELECT count(*) FROM contents")
    try file.run("COMMIT")
    say("\(before == after)")
    _ = readLine()
  }

  /// Sets, gets and removes what it is told.
  private static func serve(_ url: URL) {
    let cache = DiskCache(directory: url)
    say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      switch words[0] {
      case "set": say("\(cache.setData(Data(words[2].utf8), for: words[1]))")
      case "get":
        say(cache.data(for: words[1]).map { String(decoding: $0, as: UTF8.self) } ?? "none")
      default:
        cache.removeValue(for: words[1])
        say("removed")
      }
    }
  }
}
