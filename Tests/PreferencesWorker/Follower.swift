import Foundation
import SteadPreferences

struct Follower {
  let preferences: Preferences

  init(_ preferences: Preferences) { self.preferences = preferences }

  func run() throws {}
}
