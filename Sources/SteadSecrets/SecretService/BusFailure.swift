import Foundation

/// Why a call over the bus failed.
///
/// It keeps the names of errors but not the service's messages, which could repeat attributes.
/// ``SecretError/init(_:)`` makes an error for the caller of it.
struct BusFailure: Error, CustomStringConvertible, Equatable {
  enum Kind: Equatable {
    /// The message reached nobody, since its receiver has left the bus.
    case gone
    /// The receiver left, or the connection broke, while the answer was awaited.
    case disconnected
    /// No answer came in time.
    case timedOut
    /// Nobody offers the service, and the bus cannot start it.
    case noService
    /// No bus exists at the address.
    case noBus
    /// No object exists at the path.
    case noObject
    /// The object is locked.
    case locked
    /// The bus or the service denies it.
    case denied
    /// The user dismissed the prompt, or the task was cancelled.
    case cancelled
    /// The service requires a prompt, and none is allowed.
    case promptNeeded
    /// The message exceeds the limit of the bus.
    case tooLarge
    /// The answer does not follow the specification.
    case malformed
    /// Something else, named by ``BusFailure/name``.
    case other
  }

  var kind: Kind
  /// The name of the error on the bus, or its domain and number in GLib.
  var name: String

  var description: String { name }

  /// Whether the receiver does not know the interface or the property that was asked for.
  var isMissingInterface: Bool {
    kind == .noObject || name == "org.freedesktop.DBus.Error.UnknownInterface"
      || name == "org.freedesktop.DBus.Error.UnknownProperty"
      || name == "org.freedesktop.DBus.Error.InvalidArgs"
  }

  init(_ kind: Kind, _ name: String? = nil) {
    self.kind = kind
    self.name = name ?? "\(kind)"
  }

  /// Makes the failure for an error from a GLib function, and frees the error.
  init(taking error: UnsafeMutablePointer<GError>?, _ library: SecretLibrary) {
    guard let error else {
      self.init(.other, "no error was reported")
      return
    }
    defer { library.glib.errorFree(error) }
    // The name from the bus first: GLib gives all errors that it does not know one number.
    if let remote = library.gio.remoteError(error) {
      defer { library.glib.free(remote) }
      self.init(remote: String(cString: remote))
    } else {
      let domain = library.glib.quarkName(error.pointee.domain).map { String(cString: $0) } ?? "?"
      self.init(domain: domain, code: error.pointee.code)
    }
  }

  /// Makes the failure for the name of an error on the bus.
  init(remote name: String) {
    self.name = name
    kind =
      Self.kinds[name]
      ?? (name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") ? .noService : .other)
  }

  /// Makes the failure for an error of GLib itself.
  ///
  /// The numbers are those of `GIOErrorEnum` and `GDBusError`, which are part of GIO's binary interface.
  init(domain: String, code: Int32) {
    name = "\(domain) \(code)"
    switch (domain, code) {
    // `G_IO_ERROR_CLOSED` and `…_CONNECTION_CLOSED`, `…_CANCELLED`, `…_TIMED_OUT`.
    case ("g-io-error-quark", 18), ("g-io-error-quark", 44): kind = .disconnected
    case ("g-io-error-quark", 19): kind = .cancelled
    case ("g-io-error-quark", 24): kind = .timedOut
    // libsecret removes the names of errors, and leaves the numbers of `GDBusError`.
    // `G_DBUS_ERROR_SERVICE_UNKNOWN` and `…_NAME_HAS_NO_OWNER`, `…_NO_REPLY` and `…_DISCONNECTED`,
    // `…_ACCESS_DENIED`, `…_TIMEOUT` and `…_TIMED_OUT`.
    case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3): kind = .gone
    case ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 15): kind = .disconnected
    case ("g-dbus-error-quark", 9): kind = .denied
    case ("g-dbus-error-quark", 12), ("g-dbus-error-quark", 20): kind = .timedOut
    default: kind = .other
    }
  }

  // Names of D-Bus, of the Secret Service's specification, and what services use in their place.
  private static let kinds: [String: Kind] = [
    "org.freedesktop.DBus.Error.ServiceUnknown": .gone,
    "org.freedesktop.DBus.Error.NameHasNoOwner": .gone,
    "org.freedesktop.DBus.Error.NoReply": .disconnected,
    "org.freedesktop.DBus.Error.Disconnected": .disconnected,
    "org.freedesktop.Secret.Error.NoSession": .disconnected,
    "org.freedesktop.DBus.Error.Timeout": .timedOut,
    "org.freedesktop.DBus.Error.TimedOut": .timedOut,
    // What gnome-keyring reports for a path without an object.
    "org.freedesktop.DBus.Error.UnknownMethod": .noObject,
    "org.freedesktop.DBus.Error.UnknownObject": .noObject,
    "org.freedesktop.Secret.Error.NoSuchObject": .noObject,
    "org.freedesktop.Secret.Error.IsLocked": .locked,
    "org.freedesktop.DBus.Error.AccessDenied": .denied,
    "org.freedesktop.DBus.Error.AuthFailed": .denied,
    "org.freedesktop.DBus.Error.LimitsExceeded": .tooLarge,
  ]
}

// MARK: - Errors of secrets

extension SecretError {
  /// The underlying failure on the bus, if any.
  var busKind: BusFailure.Kind? { (cause as? BusFailure)?.kind }

  /// The error for a caller who knows nothing about the bus.
  init(_ failure: BusFailure) {
    let (code, message) = Self.description(of: failure.kind)
    self.init(
      code: code, message: message, unavailability: Self.unavailability(failure.kind),
      cause: failure)
  }

  /// The code and the message for a caller. `.gone` and `.disconnected` have the same: the next call connects again.
  private static func description(of kind: BusFailure.Kind) -> (Code, String) {
    switch kind {
    case .gone, .disconnected:
      (
        .unavailable,
        "The Secret Service disconnected during the call. Try again to reconnect."
      )
    case .timedOut:
      (
        .unavailable,
        "The Secret Service did not answer in time. Try again, or check whether it hangs."
      )
    case .noService:
      (
        .unavailable,
        "No program offers the Secret Service. Install gnome-keyring or another one, or choose the "
          + "vault."
      )
    case .noBus:
      (
        .unavailable,
        "This session has no message bus. Log in to a desktop, set "
          + "DBUS_SESSION_BUS_ADDRESS, or choose the vault."
      )
    case .locked:
      (
        .locked,
        "The collection is locked, so nothing is known about its items. Unlock it with "
          + "unlock(), or at the "
          + "desktop."
      )
    case .denied:
      (
        .accessDenied,
        "The message bus or the Secret Service denies the call. Check the sandbox's permissions."
      )
    case .cancelled: (.cancelled, "The prompt was dismissed, or the task cancelled.")
    case .promptNeeded:
      (
        .interactionRequired,
        "The Secret Service wants to ask the user, and prompts are not allowed or cannot be shown. "
          + "Allow prompts, or call unlock()."
      )
    case .tooLarge:
      (
        .tooLarge,
        "The message is too large for the message bus. Keep a key as the secret."
      )
    case .malformed:
      (
        .corrupt,
        "The Secret Service's answer does not follow its specification. Report it to "
          + "the service's makers."
      )
    case .noObject:
      (.failed, "An item of the Secret Service was removed during the call. Try again.")
    case .other: (.failed, "The Secret Service refused the call; see the cause.")
    }
  }

  private static func unavailability(_ kind: BusFailure.Kind) -> Unavailability? {
    switch kind {
    case .gone, .disconnected: .disconnected
    case .timedOut: .timedOut
    case .noService: .noService
    case .noBus: .noBus
    default: nil
    }
  }

  /// The error for a missing collection.
  static func notInitialized(_ collection: SecretService.Collection, _ cause: BusFailure?)
    -> SecretError
  {
    SecretError(
      code: .notInitialized,
      message:
        "The Secret Service has no collection \("\(collection)".quoted). Make it with the "
        + "desktop's password program; unlock() makes the default one.", cause: cause)
  }
}
