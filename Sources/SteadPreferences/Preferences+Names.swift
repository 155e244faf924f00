import Foundation

extension Preferences {
  /// The domain of what all of a user's programs share: `NSGlobalDomain`.
  public static let globalDomain = "NSGlobalDomain"
  /// The volatile domain of what the command line says: `NSArgumentDomain`.
  public static let argumentDomain = "NSArgumentDomain"
  /// The volatile domain of what ``register(defaults:)`` was given: `NSRegistrationDomain`.
  public static let registrationDomain = "NSRegistrationDomain"

  /// Posted when a value was refused since it would exceed the quota; the object is the preferences.
  public static let sizeLimitExceededNotification = Notification.Name(
    "NSUserDefaultsSizeLimitExceededNotification")
}
