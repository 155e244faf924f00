// A device that saves and syncs until it is killed.
//
//     SyncWorker FOLDER NAME [SECONDS [PAUSE]]
//
// Requests last SECONDS at most. PAUSE is how many milliseconds pass after each save, none unless it is given. FOLDER holds the store and the credentials. Prints the title of each note when it is saved, and a full stop after
// each exchange. Failures and the deadline: WorkerMain.

import Foundation
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport

@main enum SyncWorker {
  static func main() {
    WorkerMain.run { arguments in
      guard (2...4).contains(arguments.count) else { WorkerMain.misuse() }
      let (folder, name) = (URL(filePath: arguments[0]), arguments[1])
      let timeout = arguments.count >= 3 ? Double(arguments[2]) : nil
      let pause = arguments.count == 4 ? useconds_t(arguments[3]) ?? 0 : 0
      WorkerMain.wait {
        try await save(
          in: folder, name, timeout ?? HTTPSyncTransport.usualTimeout, pause: pause)
      }
    }
  }

  private static func save(in folder: URL, _ name: String, _ timeout: Double, pause: useconds_t)
    async throws
  {
    let credentials = SyncCredentialFile(folder.appending(path: "account.json"))
    let transport = try HTTPSyncTransport(credentials: credentials, timeout: timeout)
    let device = try Device(transport, in: folder)
    var number = 0
    while true {
      let title = "\(name) \(number)"
      let note = Note(title)
      note.folder = try device.folder("all") ?? Folder("all")
      device.context.insert(note)
      try device.context.save()
      say(title)
      usleep(pause * 1_000)  // How fast somebody edits; nothing waits for it.
      number += 1
      if number % 3 == 0 {
        // The server may be busy; what is saved stays.
        try? await device.engine.syncNow()
        say(".")
      }
    }
  }
}
