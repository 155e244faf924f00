// A device that saves and syncs until it is killed.
//
//     SyncWorker FOLDER NAME
//
// FOLDER holds the store and the credentials. Prints the title of each note when it is saved, and a full stop after
// each exchange.

import Foundation
import SteadSync
import SwiftData
import SyncTestSupport

@main enum SyncWorker {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 3 else { exit(2) }
    let folder = URL(filePath: words[1])
    let credentials = SyncCredentialFile(folder.appending(path: "account.json"))
    let device = try Device(try HTTPSyncTransport(credentials: credentials), in: folder)
    var number = 0
    while true {
      let title = "\(words[2]) \(number)"
      let note = Note(title)
      note.folder = try device.folder("all") ?? Folder("all")
      device.context.insert(note)
      try device.context.save()
      say(title)
      number += 1
      if number % 3 == 0 {
        // The server may be busy; what is saved stays.
        try? await device.engine.syncNow()
        say(".")
      }
    }
  }

  /// At once, since a process that is killed prints nothing that waits.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
