import Foundation
import SwiftParser
import SwiftSyntax
import Synchronization

/// Reads files on several threads, and applies the rules about single files.
///
/// Source may be anything: generated, cut off, or made to break the linter. A recursive parser
/// overflows its stack on input that nests deeply enough, and that can't be caught. So the bytes
/// are measured before (``NestingScan``), the tree is walked without recursion (``SyntaxWalk``),
/// and both have limits.
///
/// A file that can't be checked becomes a record with a finding L02, so one bad file never ends a
/// run.
///
/// It is a value without state of its own. What the threads share is the counter that gives them
/// their files, and the ``Results``.
struct FileReading: Sendable {
  /// The sizes beyond which a file isn't parsed.
  let limits: Linter.Limits
  /// The records of an earlier run; empty without one.
  let cache: LintCache
  /// Called on a reading thread before each file.
  let progress: @Sendable (Linter.Progress) -> Void
  /// Asked on a reading thread before each file.
  let isCancelled: @Sendable () -> Bool

  /// The stack of a thread: enough for a parser that recurses to the limit of nesting, even in a debug build.
  private static let stackSize = 64 << 20

  /// The records of files, in the order of the files. Blocks until all are read.
  ///
  /// Threads, not tasks: the threads of the concurrency pool have small stacks, whose size can't be chosen.
  ///
  /// - Throws: `.cancelled`. A part of the records would look like a project without the other files.
  func records(of sources: [FileList.Source]) throws -> [FileRecord] {
    let results = Results()
    let counter = AtomicCounter()
    let done = DispatchGroup()
    // Parsing keeps a core busy, so more threads than cores would only cost memory for stacks.
    for _ in 0..<min(ProcessInfo.processInfo.activeProcessorCount, max(1, sources.count)) {
      done.enter()
      let thread = Thread { [self] in
        work(on: sources, counter: counter, results: results)
        done.leave()
      }
      // Before the start, after which a thread's stack can't be changed.
      thread.stackSize = Self.stackSize
      thread.start()
    }
    done.wait()
    // The threads have ended, so nothing is read after the error.
    guard !isCancelled() else { throw LintError(.cancelled, "The run was cancelled.") }
    return results.all(count: sources.count)
  }

  /// The loop of a thread: takes the next file until none is left. Each index is taken by one thread, so no file is
  /// read twice.
  private func work(on sources: [FileList.Source], counter: AtomicCounter, results: Results) {
    while !isCancelled() {
      // Files are of very different sizes. One at a time keeps all threads busy to the end, where
      // equal shares wouldn't.
      let index = counter.next()
      guard index < sources.count else { return }
      progress(.init(completed: index, total: sources.count))
      results.add(record(of: sources[index]), at: index)
    }
  }

  /// A file's record: from the cache if the file has the same bytes and limits, else by parsing it.
  private func record(of source: FileList.Source) -> FileRecord {
    let bytes: [UInt8]
    switch source.content {
    case .bytes(let given): bytes = given
    case .file(let url):
      // Gone since the folder was listed, or without permission.
      guard let data = try? Data(contentsOf: url) else {
        return refusal(
          of: source.path, digest: "", "The file can't be read; check its permissions.")
      }
      bytes = Array(data)
    }
    // By contents and not by date: a checkout gives unchanged files new dates.
    var digest = Digest()
    // A limit decides whether a file is refused, and that of nesting what its tree is. The number of
    // files decides nothing about one.
    digest.add("\(limits.fileSize) \(limits.nesting) \(limits.chain)")
    bytes.withUnsafeBytes { digest.add($0) }
    // Before the checks: a refusal is a record, too, so a file that is too large is refused from
    // the cache.
    if var known = cache.record(of: source.path, digest: digest.description) {
      // So that the next cache takes its bytes as they are.
      known.isFromCache = true
      return known
    }
    return parse(bytes, path: source.path, digest: digest.description)
  }

  /// Parses a file and applies the rules about single files.
  ///
  /// Invariant: neither the parser nor a rule sees a file that could exhaust the stack. So the checks of size,
  /// encoding and nesting come before parsing, and that of the tree's depth before any rule. No syntax is in the
  /// record.
  private func parse(_ bytes: [UInt8], path: String, digest: String) -> FileRecord {
    guard bytes.count <= limits.fileSize else {
      return refusal(
        of: path, digest: digest,
        "The file has \(bytes.count) bytes, more than \(limits.fileSize); split it, or skip its folder."
      )
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      return refusal(of: path, digest: digest, "The file isn't UTF-8; convert it.")
    }
    // The scan doesn't see brackets in a string's interpolation. The parser's own limit of nesting
    // is for those.
    let scan = bytes.withUnsafeBufferPointer { NestingScan($0) }
    guard scan.depth <= limits.nesting, scan.chain <= limits.chain else {
      return refusal(
        of: path, digest: digest,
        "The file nests deeper than \(limits.nesting) levels, or chains more than \(limits.chain) links; "
          + "split the expression.")
    }
    // A space between an attribute and its parenthesis is an error only in Swift 6.
    let tree = bytes.withUnsafeBufferPointer {
      Parser.parse(source: $0, maximumNestingLevel: limits.nesting, swiftVersion: .v5)
    }
    let walk = SyntaxWalk(tree)
    guard !walk.isTooDeep else {
      return refusal(
        of: path, digest: digest,
        "The file nests deeper than \(SyntaxWalk.depthLimit) nodes; split the expression.")
    }
    let context = FileContext(path: path, tree: tree, walk: walk, bytes: bytes)
    let suppressions = SuppressionReader.read(tree, bytes: bytes, context: context)
    // All rules, whichever are chosen: the cache is for every later run. A tree with errors is
    // still checked.
    return FileRecord(
      digest: digest, facts: FactReader(context).facts(suppressions: suppressions),
      findings: Rule.all.flatMap { $0.inFile(context) },
      problems: tree.hasError ? [syntaxError(in: tree, context: context)] : [])
  }

  /// The record of a file that isn't checked.
  ///
  /// It has empty facts, so the file adds nothing to the index.
  private func refusal(of path: String, digest: String, _ message: String) -> FileRecord {
    var facts = FileFacts()
    facts.path = path
    let place = Place(
      path: path, line: 1, column: 1, width: 1, sourceLine: "", isInPreview: false, offset: 0,
      length: 0)
    return FileRecord(
      digest: digest, facts: facts, findings: [],
      problems: [Finding(.unreadFile, message, at: place)])
  }

  /// The first place that doesn't parse: the innermost node with an error, at its unexpected syntax if it has any.
  ///
  /// One finding for each file: a missing brace makes many nodes erroneous, and only the first
  /// place helps.
  private func syntaxError(in tree: SourceFileSyntax, context: FileContext) -> Finding {
    var node = Syntax(tree)
    // In this view missing tokens are children, too: an error may consist of nothing else.
    while let inner = node.children(viewMode: .all).first(where: {
      $0.hasError && !$0.is(UnexpectedNodesSyntax.self)
    }) {
      node = inner
    }
    let unexpected = node.children(viewMode: .all).first { $0.is(UnexpectedNodesSyntax.self) }
    return Finding(
      .unreadFile, "The Swift parser doesn't understand this; rules may have missed what follows.",
      at: context.place(from: (unexpected ?? node).start, length: 1, near: node))
  }

  /// The records that the threads have made, by the indexes of their files.
  private final class Results: Sendable {
    // A dictionary, since the threads finish files in any order.
    private let records = Mutex<[Int: FileRecord]>([:])

    /// Adds the record of a file. Called once for each index, by any thread.
    func add(_ record: FileRecord, at index: Int) {
      records.withLock { $0[index] = record }
    }

    /// The records in the order of the files, without those that weren't made.
    func all(count: Int) -> [FileRecord] {
      records.withLock { records in (0..<count).compactMap { records[$0] } }
    }
  }
}

// MARK: - Record

/// What a run knows about a file, and what the cache keeps for the next run.
struct FileRecord: Codable, Sendable {
  /// The digest of the limits and the file's bytes; empty if these couldn't be read.
  let digest: String
  let facts: FileFacts
  /// What the rules about single files found.
  let findings: [Finding]
  /// Why the file, or a part of it, wasn't checked.
  let problems: [Finding]
  /// Whether this run took it from the cache. It says nothing about the file, so it isn't encoded.
  var isFromCache = false
  /// Whether the file's bytes could be read. What is known without them isn't kept.
  var isRead: Bool { !digest.isEmpty }

  enum CodingKeys: CodingKey { case digest, facts, findings, problems }
}

// MARK: - Files

/// The files of a folder that a run reads: Swift files, and the settings of projects.
///
/// Settings are read while the list is made. The contents of Swift files are read later, on several
/// threads.
struct FileList {
  /// A Swift file to read.
  struct Source: Sendable {
    /// Where its bytes are.
    enum Content: Sendable {
      /// On the disk.
      case file(URL)
      /// In memory: an editor's unsaved file, an earlier revision, or a test's sample.
      case bytes([UInt8])
    }

    /// Relative to the folder.
    let path: String
    let content: Content
  }

  /// The Swift files, sorted by path.
  let sources: [Source]
  /// What the property lists and projects in the folder show.
  let settings: ProjectSettings

  /// Lists a folder, or a single file, and reads the settings in it. The order is that of the paths, so that two runs
  /// give the same report.
  ///
  /// - Throws: `.unreadable` if the root doesn't exist or a folder can't be listed, `.tooManyFiles` beyond the
  ///   limit.
  init(root: URL, excluding excluded: Set<String>, limit: Int) throws {
    var paths: [String] = []
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder) else {
      throw LintError(.unreadable, "\(root.path) doesn't exist; name a folder or a Swift file.")
    }
    // The root alone may be a link: the user has named it.
    let root = root.resolvingSymlinksInPath()
    // Paths in findings are relative to this, also for a single file.
    let base = isFolder.boolValue ? root : root.deletingLastPathComponent()
    if isFolder.boolValue {
      try Self.collect("", of: root, excluding: excluded, limit: limit, into: &paths)
    } else {
      paths = [root.lastPathComponent]
    }
    // A folder is listed in the order of the file system, which differs between machines.
    paths.sort()
    var settings = ProjectSettings()
    for path in paths where ProjectSettings.isSettings(path) {
      // A file that can't be read shows nothing about the app.
      if let data = try? Data(contentsOf: base.appending(path: path)) {
        settings.add(data, path: path)
      }
    }
    sources = paths.filter { $0.hasSuffix(".swift") }.map {
      .init(path: $0, content: .file(base.appending(path: $0)))
    }
    self.settings = settings
  }

  /// The sources, with some contents replaced, sorted by path. A path that the folder lacks is added; nil leaves a
  /// file out.
  func replacing(_ contents: [String: String?]) -> [Source] {
    guard !contents.isEmpty else { return sources }
    let added = contents.compactMap { path, content in
      content.map { Source(path: path, content: .bytes(Array($0.utf8))) }
    }
    return (sources.filter { contents[$0.path] == nil } + added).sorted { $0.path < $1.path }
  }

  /// Collects paths without following links, which may lead in a circle.
  ///
  /// Invariant: no more than one path beyond the limit is collected, so a folder such as the root of a disk ends the
  /// run and doesn't fill the memory.
  private static func collect(
    _ folder: String, of root: URL, excluding excluded: Set<String>, limit: Int,
    into paths: inout [String]
  ) throws {
    let keys: Set<URLResourceKey> = [.isDirectoryKey, .isSymbolicLinkKey]
    let entries: [URL]
    do {
      entries = try FileManager.default.contentsOfDirectory(
        at: root.appending(path: folder), includingPropertiesForKeys: Array(keys))
    } catch {
      throw LintError(
        .unreadable,
        "The folder \(folder.isEmpty ? root.path : folder) can't be read; check its permissions.",
        cause: error)
    }
    for entry in entries {
      let name = entry.lastPathComponent
      // An entry without these values is gone, or isn't a file or a folder.
      guard !name.hasPrefix("."), let values = try? entry.resourceValues(forKeys: keys),
        values.isSymbolicLink != true
      else { continue }
      let path = folder.isEmpty ? name : folder + "/" + name
      if values.isDirectory == true {
        if !excluded.contains(name) {
          try collect(path, of: root, excluding: excluded, limit: limit, into: &paths)
        }
      } else if name.hasSuffix(".swift") || ProjectSettings.isSettings(name) {
        paths.append(path)
      }
      // Asked at each entry, since a single folder can exceed the limit.
      guard paths.count <= limit else {
        throw LintError(
          .tooManyFiles, "\(root.path) has more than \(limit) files; check its folders one by one.")
      }
    }
  }
}

// MARK: - Threads

/// The flag by which a task's cancellation reaches the threads that read files.
final class Cancellation: Sendable {
  // Relaxed ordering is enough: the flag stands for itself, and no other memory has to be visible
  // with it.
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Asks the threads to stop before their next file. May be called at any time, on any thread.
  func cancel() {
    flag.store(true, ordering: .relaxed)
  }
}

/// A counter from which several threads take numbers, each number once.
final class AtomicCounter: Sendable {
  private let count = Atomic(0)

  /// The next number. Relaxed ordering is enough: the numbers carry no data between threads.
  func next() -> Int {
    count.wrappingAdd(1, ordering: .relaxed).oldValue
  }
}
