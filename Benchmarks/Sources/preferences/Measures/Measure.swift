import BenchmarkHarness

/// One value that a child process has measured.
struct Figure: Hashable {
  var task: Task
  var value = "time"
  var peer = Peer.stead
  var keys = 0
}

/// A ratio that is to stay within a limit, or without `base` a value that is.
struct Check {
  let title: String
  let figure: Figure
  var base: Figure?
  let limit: Double
}

/// One part of the report: figures for some peers and sizes, and what is asked of them.
struct Measure {
  let name: String
  let title: String
  let task: Task
  /// The names of the values and what they are called in the report.
  var values = ["time": ""]
  var peers: [Peer] = Peer.allCases
  var sizes = [0]
  let unit: Unit
  let checks: [Check]

  enum Unit { case time, bytes }
}

extension Measure {
  static let all = [get, set, worst, open, overwrite, large, memory, flush]
  private static let sizes = [100, 1_000, 10_000, 100_000]

  private static let get = Measure(
    name: "get", title: "get an Int, in random order: of all keys, or of 100 of them", task: .get,
    values: ["all": "", "few": "of 100"], sizes: sizes, unit: .time,
    checks: [
      Check(
        title: "get, 10,000 keys: Stead / LMDB",
        figure: Figure(task: .get, value: "all", keys: 10_000),
        base: Figure(task: .get, value: "all", peer: .lmdb, keys: 10_000), limit: 0.5),
      Check(
        title: "get of 100 keys: 100,000 / 100 keys",
        figure: Figure(task: .get, value: "few", keys: 100_000),
        base: Figure(task: .get, value: "few", keys: 100), limit: 1.5),
      Check(
        title: "get of all keys: 100,000 / 100 keys",
        figure: Figure(task: .get, value: "all", keys: 100_000),
        base: Figure(task: .get, value: "all", keys: 100), limit: 1.5),
    ])

  private static let set = Measure(
    name: "set", title: "set an Int so that it survives a kill, keys in random order", task: .set,
    sizes: sizes, unit: .time,
    checks: [
      Check(
        title: "set, 10,000 keys: Stead / LMDB", figure: Figure(task: .set, keys: 10_000),
        base: Figure(task: .set, peer: .lmdb, keys: 10_000), limit: 0.5),
      Check(
        title: "set, 10,000 keys: Stead / UserDefaults", figure: Figure(task: .set, keys: 10_000),
        base: Figure(task: .set, peer: .foundation, keys: 10_000), limit: 1.0 / 5_000),
      Check(
        title: "set: 100,000 keys / 100 keys", figure: Figure(task: .set, keys: 100_000),
        base: Figure(task: .set, keys: 100), limit: 1.5),
    ])

  private static let worst = Measure(
    name: "worst", title: "the longest of 100,000 sets", task: .worst,
    values: ["worst": "", "thousandth": "all but one in 1,000"], peers: [.stead, .lmdb, .lmdbMap],
    sizes: [1_000, 10_000, 100_000], unit: .time,
    checks: [1_000, 10_000, 100_000].map { keys in
      Check(
        title: "ns of the longest set, \(keys.grouped) keys",
        figure: Figure(task: .worst, value: "worst", keys: keys), limit: 2_000_000)
    })

  private static let open = Measure(
    name: "open", title: "open a store and get one value, in a new process", task: .open,
    sizes: [10_000, 100_000], unit: .time,
    checks: [10_000, 100_000].map { keys in
      Check(
        title: "open, \(keys.grouped) keys: Stead / UserDefaults",
        figure: Figure(task: .open, keys: keys),
        base: Figure(task: .open, peer: .foundation, keys: keys), limit: 0.25)
    })

  private static let overwrite = Measure(
    name: "overwrite", title: "the disk's share after a million sets of one key", task: .overwrite,
    values: ["bytes": ""], peers: [.stead, .lmdb], unit: .bytes,
    checks: [
      Check(
        title: "bytes after a million sets of one key",
        figure: Figure(task: .overwrite, value: "bytes"), limit: 256 * 1024)
    ])

  private static let large = Measure(
    name: "large", title: "Data of 5 MB", task: .large,
    values: ["set": "set", "get": "get", "memcpy": "a copy in memory"],
    peers: [.stead, .foundation], unit: .time,
    checks: ["set", "get"].map { value in
      Check(
        title: "\(value) of 5 MB: Stead / a copy in memory",
        figure: Figure(task: .large, value: value),
        base: Figure(task: .large, value: "memcpy"), limit: value == "set" ? 4 : 1)
    })

  private static let memory = Measure(
    name: "memory", title: "memory for each key, after the first get", task: .memory,
    values: ["resident": "all", "own": "without mapped files"], sizes: [100_000], unit: .bytes,
    checks: [
      Check(
        title: "memory, 100,000 keys: Stead / UserDefaults",
        figure: Figure(task: .memory, value: "resident", keys: 100_000),
        base: Figure(task: .memory, value: "resident", peer: .foundation, keys: 100_000), limit: 1)
    ])

  private static let flush = Measure(
    name: "flush", title: "set and flush()", task: .flush,
    values: ["flush": "set and flush()", "fdatasync": "pwrite and fdatasync"], peers: [.stead],
    unit: .time,
    checks: [
      Check(
        title: "set and flush / pwrite and fdatasync",
        figure: Figure(task: .flush, value: "flush"),
        base: Figure(task: .flush, value: "fdatasync"), limit: 1.5)
    ])
}
