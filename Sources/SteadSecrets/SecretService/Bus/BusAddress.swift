import Foundation

/// Where the session's message bus is.
enum BusAddress {
  /// The address that the environment gives, nil when it gives none.
  ///
  /// GDBus would start a bus where there is none ("autolaunch"), which needs a display and can hang.
  /// So the environment is read here, by the rules of the D-Bus specification and of systemd.
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
