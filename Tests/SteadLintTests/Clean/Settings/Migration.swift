import Foundation

/// Earlier versions kept the token in preferences.
func moveTokenToKeychain(from defaults: UserDefaults, to keychain: Keychain) throws {
  guard let token = defaults.string(forKey: "accessToken") else { return }
  try keychain.set(Data(token.utf8), for: "access")
  defaults.removeObject(forKey: "accessToken")
}

protocol Keychain {
  func set(_ data: Data, for account: String) throws
}
