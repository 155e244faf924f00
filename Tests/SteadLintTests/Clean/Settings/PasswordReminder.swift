import Foundation

struct PasswordReminder {
  let defaults: UserDefaults

  var isDue: Bool {
    guard let last = defaults.object(forKey: DefaultsKey.lastPasswordCheck) as? Date else {
      return true
    }
    return last.timeIntervalSinceNow < -14 * 86_400
  }

  func checked() { defaults.set(Date.now, forKey: DefaultsKey.lastPasswordCheck) }
}
