import UIKit

final class PushRegistration {
  func registered(_ deviceToken: Data, defaults: UserDefaults) {
    let text = deviceToken.map { String(format: "%02x", $0) }.joined()
    defaults.set(text, forKey: "pushDeviceToken")
  }
}
