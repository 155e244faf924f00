import Foundation

/// The Secret portal of a desktop, as its specification has it.
enum PortalService {
  /// What the desktop does when it is asked for an app's secret.
  enum Answer: String {
    case secret, early, refuse, fail, silence, short, endless, forbid
  }

  static func start(_ answer: Answer = .secret, on bus: PrivateBus) throws -> BusService {
    try BusService(program, [answer.rawValue], on: bus)
  }

  /// A desktop with other portals, and without this one.
  static func startWithoutSecret(on bus: PrivateBus) throws -> BusService {
    try BusService(program, ["none"], on: bus)
  }

  private static let program = """
    INTERFACE, REQUEST = "org.freedesktop.portal.Secret", "org.freedesktop.portal.Request"
    answer, requests = words[0], []
    SECRET = bytes(range(64))

    class Request(dbus.service.Object):
        @dbus.service.method(REQUEST)
        def Close(self):
            os.environ["closed"] = "yes"

        @dbus.service.signal(REQUEST, signature="ua{sv}")
        def Response(self, response, results):
            pass

    class Desktop(dbus.service.Object):
        @dbus.service.method(
            "org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
        def Get(self, interface, name):
            if answer == "none" or interface != INTERFACE or name != "version":
                raise Failure("org.freedesktop.DBus.Error.InvalidArgs")
            return dbus.UInt32(1)

        @dbus.service.method(
            INTERFACE, in_signature="ha{sv}", out_signature="o", sender_keyword="sender")
        def RetrieveSecret(self, target, options, sender=None):
            if answer == "forbid":
                raise Failure("org.freedesktop.DBus.Error.AccessDenied")
            target, parts = target.take(), sender[1:].replace(".", "_")
            path = f"/org/freedesktop/portal/desktop/request/{parts}/t{len(requests)}"
            request = Request(bus, path)
            requests.append(request)
            none = dbus.Dictionary({}, signature="sv")
            def finish():
                if answer in ("secret", "early"):
                    os.write(target, SECRET)
                if answer == "short":
                    os.write(target, b"short")
                if answer == "endless":
                    os.write(target, bytes(65536))
                if answer != "endless":
                    os.close(target)
                codes = {"refuse": 1, "fail": 2}
                if answer != "silence":
                    request.Response(dbus.UInt32(codes.get(answer, 0)), none)
            if answer == "early":
                finish()
            else:
                GLib.idle_add(finish)
            return dbus.ObjectPath(path)

    desktop = Desktop(bus, "/org/freedesktop/portal/desktop")
    name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
    """
}
