import Foundation

/// A program of the tests that offers a service on a private bus, for what no real one does on demand.
///
/// It is written in Python with the bindings of D-Bus and GLib, and ends when the tests do.
package final class BusService: Sendable {
  /// The first Python that has the bindings; nil where there is none.
  private static let python: String? = ["python3", "/usr/bin/python3"].first {
    (try? ToolRun([$0, "-c", "import dbus, dbus.mainloop.glib; from gi.repository import GLib"]))?
      .status == 0
  }
  package static var isAvailable: Bool { python != nil && PrivateBus.missing == nil }

  private let process = Process()
  private let lifeline = Pipe.closedByOthers()

  /// - Parameters:
  ///   - program: What it does, with `bus` to do it on, `words` for the arguments and `properties` for objects
  ///     that have some.
  ///   - arguments: What the program is given.
  package init(_ program: String, _ arguments: [String] = [], on bus: PrivateBus) throws {
    let output = Pipe.closedByOthers()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["timeout", "240", Self.python ?? "python3", "-c", Self.beginning + program + Self.end]
      + arguments
    process.environment = bus.environment
    try process.start(input: lifeline, output: output)
    // It prints a line once it has its name.
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw CocoaError(.fileReadUnknown)
    }
  }

  deinit {
    try? lifeline.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  private static let beginning = """
    import dbus, dbus.service, os, sys, time
    from dbus.mainloop.glib import DBusGMainLoop
    from gi.repository import GLib
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    words = sys.argv[1:]
    PROPERTIES = "org.freedesktop.DBus.Properties"

    class Failure(dbus.DBusException):
        def __init__(self, name):
            super().__init__(name)
            self._dbus_error_name = name

    class Object(dbus.service.Object):
        # Subclasses have a function `values`, which gives the properties by their names.
        @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
        def Get(self, interface, name):
            if name not in self.values():
                raise Failure("org.freedesktop.DBus.Error.InvalidArgs")
            return self.values()[name]

        @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
        def GetAll(self, interface):
            return self.values()

        @dbus.service.method(PROPERTIES, in_signature="ssv")
        def Set(self, interface, name, value):
            setattr(self, name.lower(), value)


    """

  private static let end = """

    print("ready", flush=True)
    loop = GLib.MainLoop()
    GLib.io_add_watch(0, GLib.IO_HUP, lambda *_: loop.quit())
    loop.run()

    """
}

extension Requirement {
  package static let busService = Requirement(
    BusService.isAvailable,
    orElse: "no Python has the bindings of D-Bus: install python3-dbus and python3-gi")
}
