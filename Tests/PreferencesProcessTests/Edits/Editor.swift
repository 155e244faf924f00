import Foundation
import Testing

/// Another program that edits a property list file, which knows nothing of the journal beside it.
struct Editor {
  enum Writing: String, CaseIterable {
    /// As most editors and Apple's tools: a new file takes the old one's place.
    case rename
    /// The old file is emptied and written.
    case inPlace
  }
  enum Format: String, CaseIterable { case binary, xml }

  var writing = Writing.rename
  var format = Format.binary

  private static let script = """
    import json, os, plistlib, sys
    path, writing, format, edits = sys.argv[1:5]
    with open(path, "rb") as file: fields = plistlib.load(file)
    for key, value in json.loads(edits).items():
        if value is None: fields.pop(key, None)
        else: fields[key] = value
    kind = plistlib.FMT_XML if format == "xml" else plistlib.FMT_BINARY
    data = plistlib.dumps(fields, fmt=kind)
    if writing == "rename":
        with open(path + ".edited", "wb") as file: file.write(data)
        os.rename(path + ".edited", path)
    elif writing == "inPlace":
        with open(path, "wb") as file: file.write(data)
    else:
        with open(path, "wb", buffering=0) as file:
            file.write(data[:len(data) // 2])
            print("half", flush=True)
            sys.stdin.readline()
            file.write(data[len(data) // 2:])
    """

  /// Sets keys, or removes those that are `null`: `{"a": 1, "b": null}`.
  func edit(_ file: URL, _ edits: String) throws {
    try ToolRun.text(
      ["python3", "-c", Self.script, file.filePath, writing.rawValue, format.rawValue, edits])
  }

  /// Begins to write in place, calls `body` with half of the file there, and goes on.
  func editSlowly(_ file: URL, _ edits: String, _ body: () throws -> Void) throws {
    let editor = try WorkerProcess([
      "python3", "-c", Self.script, file.filePath, "slow", format.rawValue, edits,
    ])
    try #require(editor.line() == "half")
    try body()
    editor.send("go on")
    #expect(editor.finish() == 0)
  }

  /// What Python reads in a file, as JSON with sorted keys.
  static func json(_ file: URL) throws -> String {
    let script = """
      import json, plistlib, sys
      print(json.dumps(plistlib.load(open(sys.argv[1], "rb")), sort_keys=True), end="")
      """
    return try ToolRun.text(["python3", "-c", script, file.filePath])
  }
}

/// A worker that follows a domain, and its property list file.
final class Following {
  let directory: TemporaryDirectory
  let file: URL
  let worker: Worker
  private(set) var lines: [String] = []

  init(_ directory: TemporaryDirectory? = nil) throws {
    self.directory = try directory ?? TemporaryDirectory(inMemory: true)
    file = self.directory.file("domain.plist")
    worker = try Worker(self.directory.url, ["follow"])
    try until("ready")
  }

  /// Reads what the worker says up to a line.
  func until(_ expected: String) throws {
    var seen: [String] = []
    while let line = worker.line() {
      seen.append(line)
      lines.append(line)
      if line == expected { return }
    }
    throw Ended(missing: expected, seen: seen, status: worker.finish())
  }

  struct Ended: Error {
    var missing: String
    var seen: [String]
    var status: Int32
  }

  func send(_ line: String, until expected: String) throws {
    worker.send(line)
    try until(expected)
  }

  /// Ends the worker; all its lines that were errors.
  func errors() -> [String] {
    worker.endInput()
    lines += worker.rest()
    #expect(worker.finish() == 0)
    return lines.filter { $0.hasPrefix("error") }
  }
}
