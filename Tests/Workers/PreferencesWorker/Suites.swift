import Foundation
import SteadPreferences

/// Opens suites by the names that the input has, percent-encoded and in quotation marks, and sets a key.
func openSuites() throws {
  while let line = readLine() {
    let name = line.dropFirst().dropLast().removingPercentEncoding ?? ""
    guard let preferences = Preferences(suiteName: name) else {
      say("refused")
      continue
    }
    preferences.onError = { error in say("error \(error)") }
    preferences.set(1, forKey: "key")
    say(preferences.synchronize() ? "opened" : "failed")
  }
}
