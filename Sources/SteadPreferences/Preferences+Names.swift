import Foundation

extension Preferences {
  /// The domain of what all of a user's programs share: `NSGlobalDomain`.
  public static let globalDomain = DomainName.global
  /// The volatile domain of what the command line says: `NSArgumentDomain`.
  public static let argumentDomain = DomainName.arguments
  /// The volatile domain of what ``register(defaults:)-([String:Any])`` was given: `NSRegistrationDomain`.
  public static let registrationDomain = DomainName.registration

  /// Posted when a value was refused since it would exceed the quota; the object is the preferences.
  public static let sizeLimitExceededNotification = Notification.Name(
    "NSUserDefaultsSizeLimitExceededNotification")
}
