import Foundation
import SteadTestSupport
import SwiftData

/// What another process gets to do.
struct WorkerTask: Codable {
  let profile: String
  let file: String
  /// The identifiers of the objects that the store has.
  let identifiers: [Int: PersistentIdentifier]
  let calls: [Call]
}

extension Subject {
  /// The program that does the calls of other processes.
  static func workerProgram() throws -> String { try WorkerProcess.program("ModelRunner") }

  func runWorker(_ calls: [Call], killAfter kill: Int?) throws {
    guard let url else { return }
    let task = WorkerTask(
      profile: profile.rawValue, file: url.filePath, identifiers: identifiers, calls: calls)
    let worker = try WorkerProcess([try Self.workerProgram(), "work"])
    let text = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
    _ = worker.tell(text)
    guard let kill else {
      let lines = worker.rest()
      try Self.checkVerdict(lines.last)
      if worker.finish() != 0 {
        throw Mismatch("the other process failed: \(lines.last ?? "it crashed")")
      }
      return
    }
    for _ in 0..<kill {
      let line = worker.line()
      try Self.checkVerdict(line)
      guard line == "saved" else {
        throw Mismatch("the other process ended before it was killed")
      }
    }
    worker.end()
  }

  /// Ends the sequence without a verdict where the other process did.
  private static func checkVerdict(_ line: String?) throws {
    guard let line, line.hasPrefix(ModelWorker.unspecified) else { return }
    throw Unspecified(reason: String(line.dropFirst(ModelWorker.unspecified.count)))
  }
}

/// The life of the other process.
public enum ModelWorker {
  /// What a line begins with that tells why a sequence has no verdict.
  static let unspecified = "unspecified "

  /// Does the calls that come on the standard input. Prints a line after each save.
  public static func run() throws {
    guard let line = readLine() else { return }
    let task = try JSONDecoder().decode(WorkerTask.self, from: Data(line.utf8))
    guard let profile = Profile(rawValue: task.profile) else { return }
    let subject = try Subject(profile, at: URL(filePath: task.file))
    subject.identifiers = task.identifiers
    // The calls name the context of this process after those of the first one.
    subject.contexts.append(subject.contexts[0])
    subject.objects.append([:])
    do {
      for call in task.calls {
        try subject.perform(call)
        if call.isReportedSave { say("saved") }
      }
    } catch let error as Unspecified {
      say(unspecified + error.reason)
    }
  }
}
