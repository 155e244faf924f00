import Foundation

/// The address of the session's message bus.
enum BusAddress {
  /// Whether the environment names a bus, existing or not, or hides one that the user has.
  ///
  /// - Parameter users: The directory in which systemd creates a runtime directory for each user.
  static func isGiven(in environment: [String: String], users: String = "/run/user") -> Bool {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      return address.split(separator: ";").contains { !$0.hasPrefix("autolaunch:") }
    }
    if let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") {
      return access(directory + "/bus", F_OK) == 0
    }
    // As cron starts a program: the user's own session may have a bus nevertheless.
    let isOwnHome = environment["HOME"] == ProcessInfo.processInfo.environment["HOME"]
    return isOwnHome && access("\(users)/\(geteuid())/bus", F_OK) == 0
  }

  /// The bus address in the environment; nil if none.
  ///
  /// GDBus would start a bus if none is running ("autolaunch"), which needs a display and can hang. So the
  /// environment is read here, by the rules of the D-Bus specification and of systemd.
  static func find(in environment: [String: String], _ library: SecretLibrary) -> String? {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      let usable = address.split(separator: ";").filter { !$0.hasPrefix("autolaunch:") }
      return usable.isEmpty ? nil : usable.joined(separator: ";")
    }
    guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else {
      return nil
    }
    let socket = directory + "/bus"
    guard access(socket, F_OK) == 0, let escaped = library.gio.escapeAddress(socket) else {
      return nil
    }
    defer { library.glib.free(escaped) }
    return "unix:path=" + String(cString: escaped)
  }
}
