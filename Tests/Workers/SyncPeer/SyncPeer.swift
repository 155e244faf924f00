// One of several devices: edits at random, and syncs all the time.
//
//     SyncPeer FOLDER NAME SEED EDITS AHEAD VERSION
//
// FOLDER holds the store and the credentials. The device's clock is AHEAD milliseconds ahead. VERSION is `new`, or `old`
// for an app whose models lack what later ones have. Prints `edited` after the last edit; then for each line that it
// reads how many objects it shows, digests of what both versions know of them and of everything, and the engine's
// last problem. Ends with its input. Failures: WorkerMain.

import Foundation
import SteadEncoding
import SteadSync
import SteadTestSupport
import SyncTestSupport

@main enum SyncPeer {
  /// Seconds between two attempts of the engine.
  private static let retryDelay = 0.1...1.0
  /// Microseconds from one edit to the next. So others' edits come in between.
  private static let pace: Range<useconds_t> = 0..<60_000

  static func main() {
    WorkerMain.run(timeLimit: nil) { arguments in
      guard arguments.count == 6, let seed = UInt64(arguments[2]), let edits = Int(arguments[3]),
        let ahead = Int64(arguments[4])
      else { WorkerMain.misuse() }
      let folder = URL(filePath: arguments[0])
      let transport = try HTTPSyncTransport(
        credentials: SyncCredentialFile(folder.appending(path: "account.json")))
      var options = SyncEngine.Options()
      options.retryDelay = retryDelay
      options.now = { Int64(Date().timeIntervalSince1970 * 1000) + ahead }
      let shelf: any Shelf =
        arguments[5] == "old"
        ? try OldShelf(transport, in: folder, options)
        : try NewShelf(transport, in: folder, options)
      try run(shelf, name: arguments[1], seed, edits)
    }
  }

  private static func run(_ shelf: any Shelf, name: String, _ seed: UInt64, _ edits: Int) throws {
    let engine = shelf.engine
    WorkerMain.wait { await engine.start() }
    var random = SplitMix(seed: seed)
    for number in 0..<edits {
      // How fast somebody edits; nothing waits for it.
      usleep(.random(in: pace, using: &random))
      try shelf.edit(RandomEdit(name: "\(name) \(number)", using: &random))
    }
    say("edited")
    while readLine() != nil {
      let (common, all) = (try shelf.commonContent, try shelf.content)
      let problem = engine.status.zones[Device.zone]?.problem ?? ""
      say("\(common.count) \(digest(common)) \(digest(all)) \(problem)")
    }
    WorkerMain.wait { await engine.pause() }
  }

  private static func digest(_ lines: [String]) -> String {
    SHA256.hexadecimal(lines.sorted().joined(separator: "\n").utf8)
  }
}

/// A device's store, in the models of one version of an app.
protocol Shelf {
  var engine: SyncEngine { get }
  /// What the store holds, in what every version knows.
  var commonContent: [String] { get throws }
  /// What the store holds.
  var content: [String] { get throws }

  /// Makes an edit and saves it.
  func edit(_ edit: RandomEdit) throws
}
