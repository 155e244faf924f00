import BenchmarkHarness
import Foundation

/// The package diskcache of Python, in a process of its own, with the limits that it has by default but the size.
///
/// It removes what was stored first, and writes nothing for a get. Its time is taken within Python.
enum PythonCache {
  static let isAvailable = (try? output("import diskcache", [])) != nil

  private static let program = """
    import diskcache, random, shutil, sys, time
    work, place = sys.argv[1:3]
    count, size, limit, kept, gets = map(int, sys.argv[3:])
    value = bytes((number * 31) % 256 for number in range(size))
    keys = ["https://example.org/pictures/%d.jpeg" % number for number in range(count)]
    cache = diskcache.Cache(place, size_limit=limit)
    begin = time.perf_counter_ns()
    for key in keys:
        cache.set(key, value)
    spent = (time.perf_counter_ns() - begin) / count
    if work == "get":
        found = [key for key in keys[-kept:] if key in cache]
        order = random.choices(found, k=gets)
        begin = time.perf_counter_ns()
        for key in order:
            cache.get(key)
        spent = (time.perf_counter_ns() - begin) / gets
    cache.close()
    shutil.rmtree(place)
    print(spent)
    """

  static func peer(_ work: String, in place: URL) -> Comparison.Peer {
    Comparison.Peer(name: "diskcache") {
      let numbers = [
        DiskMeasures.entryCount, DiskMeasures.valueSize, DiskMeasures.sizeLimit,
        DiskMeasures.keptCount, DiskMeasures.getCount,
      ]
      let text = try output(
        program, [work, place.appending(path: "python").path] + numbers.map(String.init))
      guard let time = Double(text) else { throw UsageError() }
      return time
    }
  }

  private static func output(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw UsageError() }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
