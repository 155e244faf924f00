import Foundation
import SwiftParser
import SwiftSyntax
import Synchronization

/// Reads files on several threads, and applies the rules about single files.
struct FileReading: Sendable {
  let limits: Linter.Limits
  let cache: LintCache
  let progress: @Sendable (Linter.Progress) -> Void
  let isCancelled: @Sendable () -> Bool

  /// Enough for a parser that recurses to the limit of nesting, even in a debug build.
  private static let stackSize = 64 << 20

  /// The records of files, in the order of the files.
  func records(of sources: [FileList.Source]) throws -> [FileRecord] {
    let results = Results()
    let ticket = Ticket()
    let done = DispatchGroup()
    for _ in 0..<min(ProcessInfo.processInfo.activeProcessorCount, max(1, sources.count)) {
      done.enter()
      let thread = Thread { [self] in
        work(on: sources, ticket: ticket, results: results)
        done.leave()
      }
      thread.stackSize = Self.stackSize
      thread.start()
    }
    done.wait()
    guard !isCancelled() else { throw LintError(.cancelled, "The run was cancelled.") }
    return results.all(count: sources.count)
  }

  private func work(on sources: [FileList.Source], ticket: Ticket, results: Results) {
    while !isCancelled() {
      let index = ticket.take()
      guard index < sources.count else { return }
      progress(.init(completed: index, total: sources.count))
      results.add(record(of: sources[index]), at: index)
    }
  }

  private func record(of source: FileList.Source) -> FileRecord {
    let bytes: [UInt8]
    switch source.content {
    case .bytes(let given): bytes = given
    case .file(let url):
      guard let data = try? Data(contentsOf: url) else {
        return refusal(
          of: source.path, digest: "", "The file can't be read; check its permissions.")
      }
      bytes = Array(data)
    }
    var digest = Digest()
    bytes.withUnsafeBytes { digest.add($0) }
    if var known = cache.record(of: source.path, digest: digest.description) {
      known.isFromCache = true
      return known
    }
    return parse(bytes, path: source.path, digest: digest.description)
  }

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
    return FileRecord(
      digest: digest, facts: FactReader(context).facts(suppressions: suppressions),
      findings: Rule.all.flatMap { $0.inFile(context) },
      problems: tree.hasError ? [syntaxError(in: tree, context: context)] : [])
  }

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
  private func syntaxError(in tree: SourceFileSyntax, context: FileContext) -> Finding {
    var node = Syntax(tree)
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

  /// The records that the threads have made.
  private final class Results: Sendable {
    private let records = Mutex<[Int: FileRecord]>([:])

    func add(_ record: FileRecord, at index: Int) {
      records.withLock { $0[index] = record }
    }

    func all(count: Int) -> [FileRecord] {
      records.withLock { records in (0..<count).compactMap { records[$0] } }
    }
  }
}
