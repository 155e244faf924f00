import Foundation

enum SettingsKey {
  static let didOnboard = "didOnboard"
}

func finishOnboarding(in settings: UserDefaults) {
  settings.set(true, forKey: "didOnboard")
}
