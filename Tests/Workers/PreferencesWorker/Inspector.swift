import Foundation
import SteadPreferences

/// Opens one directory after the other, as the input names them: prints what is in the domain, with
/// errors as lines of their own, then sets a key.
struct Inspector {
  let name: String

  func run() {
    // What is found wrong while a domain is opened has no object yet that could be told.
    Preferences.onError = { error in say("error \(error)") }
    while let directory = readLine() {
      do {
        let preferences = try Domain(directory: directory, name: name).open()
        try dump(preferences)
        preferences.set(1, forKey: "inspected")
      } catch {
        say("error \(error)\n.")
      }
      waitUntilClosed(directory)
      say(".")
    }
  }

  /// A thread that frees the domain's lock may have its files open for longer, and find then that the test has removed them.
  /// Its error would be taken for one of the next directory. A domain that can't be written keeps the key in memory,
  /// and therefore its files open, until the process ends. So there is an end to the wait.
  private func waitUntilClosed(_ directory: String) {
    for _ in 0..<100 where isOpen(directory) { sched_yield() }
  }

  private func isOpen(_ directory: String) -> Bool {
    let list = "/proc/self/fd"
    let files = FileManager.default
    return (try? files.contentsOfDirectory(atPath: list))?.contains {
      (try? files.destinationOfSymbolicLink(atPath: "\(list)/\($0)"))?.hasPrefix(directory) == true
    } ?? false
  }
}
