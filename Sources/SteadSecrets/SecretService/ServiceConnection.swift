import CSteadSecrets
import Synchronization

/// A connection to the bus, with a session of the program that offers the service on it.
///
/// It serves all threads of the process, for as long as the bus and that program live.
final class ServiceConnection: Sendable {
  let bus: BusConnection
  /// The program's unique name, such as `:1.42`.
  ///
  /// Messages are sent to it and not to the well-known name. If the program ends, they fail, instead of starting or
  /// reaching another one, which does not know the session.
  let owner: String
  let session: SecretSession
  /// The cached path of the collection's alias; nil before the first resolution. A connection is for one
  /// collection.
  let alias = Mutex<ResolvedAlias?>(nil)

  /// The collection that an alias stood for when the service was asked.
  struct ResolvedAlias {
    /// How long reads use it without asking again.
    static let lifetime = Duration.seconds(1)

    let path: String
    let expiry: Deadline
  }

  /// How long ``alias`` counts; only tests choose it.
  let aliasLifetime: Duration

  init(
    _ address: String, _ library: SecretLibrary, aliasLifetime: Duration, until deadline: Deadline
  ) throws(BusFailure) {
    self.aliasLifetime = aliasLifetime
    bus = try BusConnection(address, library, until: deadline)
    owner = try bus.owner(of: ServiceName.bus, until: deadline)
    session = try SecretSession(bus, owner: owner, until: deadline)
  }
}

extension BusConnection {
  /// The unique name of the program that owns a name; the bus starts one if none is running.
  func owner(of name: String, until deadline: Deadline) throws(BusFailure) -> String {
    do throws(BusFailure) {
      return try currentOwner(of: name, until: deadline)
    } catch  where error.kind == .gone {
      // Started by a call of its own: messages go to unique names and with `noAutoStart`, so none of them starts a
      // program.
      try start(name, until: deadline)
      return try currentOwner(of: name, until: deadline)
    }
  }

  private func currentOwner(
    of name: String, until deadline: Deadline
  ) throws(BusFailure) -> String {
    let reply = try callBus("GetNameOwner", [.string(name)], until: deadline)
    guard let owner = reply[0]?.string else { throw BusFailure(.malformed) }
    return owner
  }

  /// Has the bus start the program that offers a name, as its service files say.
  private func start(_ name: String, until deadline: Deadline) throws(BusFailure) {
    do throws(BusFailure) {
      _ = try callBus("StartServiceByName", [.string(name), .uint32(0)], until: deadline)
    } catch  where error.kind == .gone && !isClosed {
      throw BusFailure(.noService, error.name)
    }
  }

  /// Calls a method of the bus itself.
  func callBus(
    _ method: String, _ arguments: [BusValue], until deadline: Deadline
  ) throws(BusFailure) -> BusReply {
    try call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments,
      until: deadline)
  }
}

// MARK: - Session

/// libsecret's session with one process that offers the service.
///
/// Secrets cross the bus encrypted under a key of a Diffie-Hellman exchange
/// (`dh-ietf1024-sha256-aes128-cbc-pkcs7`), so that a monitor of the bus does not see them; in the clear only
/// if the service supports nothing else. libsecret implements this, and keeps the secrets in locked memory
/// meanwhile.
// Sendable: libsecret's session does not change once it exists, and its uses here, encoding and decoding,
// only read it.
final class SecretSession: @unchecked Sendable {
  /// The content types by which other programs tell a text from other bytes.
  private static let (text, bytes) = ("text/plain", "application/octet-stream")

  /// The service's object for the session.
  let path: String
  private let service: GPointer
  private let library: SecretLibrary

  /// - Parameter owner: The unique bus name of the program that offers the service. A session is with one
  ///   process, so it must not be requested under a name that another process can get later.
  init(
    _ connection: BusConnection, owner: String, until deadline: Deadline
  ) throws(BusFailure) {
    library = connection.library
    // GLib's notifications of a proxy are useless here, and must not pile up in the program's main context.
    (service, path) = try BusContext.run(library) { [library] _ throws(BusFailure) in
      guard
        let service = SecretServiceProxy.make(connection, owner, deadline.milliseconds, library)
      else { throw BusFailure(.other, "libsecret does not support private connections") }
      do throws(BusFailure) {
        return (service, try Self.open(service, library))
      } catch {
        library.glib.objectUnref(service)
        throw error
      }
    }
  }

  deinit { if library.isUsable { library.glib.objectUnref(service) } }

  private static func open(_ service: GPointer, _ library: SecretLibrary) throws(BusFailure)
    -> String
  {
    var error: UnsafeMutablePointer<GError>?
    guard library.gio.initable(service, nil, &error) != 0,
      library.libsecret.ensureSession(service, nil, &error) != 0
    else { throw BusFailure(taking: error, library) }
    guard let path = library.libsecret.sessionPath(service) else { throw BusFailure(.malformed) }
    return String(cString: path)
  }

  /// Encrypts a secret for a message. The cleartext is only in ``SecretBytes`` and libsecret's locked memory.
  func encode(_ secret: SecretBytes) throws(BusFailure) -> BusValue {
    let encoded = secret.withBytes { bytes in
      // GLib treats a NUL as the end of a string, and so accepts no string that contains one.
      let isText = library.glib.isUTF8(bytes.baseAddress, bytes.count, nil) != 0
      let value = library.libsecret.valueNew(
        bytes.baseAddress, bytes.count, isText ? Self.text : Self.bytes)
      defer { library.libsecret.valueUnref(value) }
      return library.libsecret.encode(service, value)
    }
    guard let encoded else { throw BusFailure(.other, "the secret could not be encoded") }
    return .made(BusReply(taking: library.variant.refSink(encoded), library))
  }

  /// Decrypts the secret of a reply. libsecret wipes its own copy.
  func decode(_ reply: BusReply) throws(BusFailure) -> SecretBytes {
    guard reply.type == "(oayays)", let value = library.libsecret.decode(service, reply.value)
    else { throw BusFailure(.malformed) }
    defer { library.libsecret.valueUnref(value) }
    var count = 0
    let bytes = library.libsecret.valueGet(value, &count)
    return SecretBytes(
      copying: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
  }
}

// MARK: - Proxy

/// A GObject type, derived from libsecret's `SecretService`, that accepts a private connection.
///
/// libsecret's own functions use GLib's shared connection to the session's bus, which ends the process when the bus
/// dies (see ``BusConnection``). Its constructor overrides the requested properties with those of the shared
/// connection. The constructor of a derived type is called around it, and sets the requested ones again before the
/// object is initialized.
enum SecretServiceProxy {
  private static let name: StaticString = "SteadSecretServiceProxy"
  /// `G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES`, `…_DO_NOT_CONNECT_SIGNALS`, `…_DO_NOT_AUTO_START`.
  private static let flags: UInt32 = 1 | 2 | 4

  private static let properties: [StaticString] = [
    "g-flags", "g-name", "g-bus-type", "g-connection", "g-default-timeout",
  ]
  /// The properties that libsecret overrides.
  private static let contested = ["g-flags", "g-name", "g-bus-type"]

  /// An uninitialized proxy; nil when libsecret does not let it have the connection.
  static func make(
    _ connection: BusConnection, _ owner: String, _ milliseconds: Int32, _ library: SecretLibrary
  ) -> GPointer? {
    guard type != 0 else { return nil }
    let glib = library.glib
    var values = [GValue](repeating: GValue(), count: properties.count)
    for (index, type) in [
      library.gio.proxyFlagsType(), stringType, library.gio.busType(), objectType, intType,
    ].enumerated() {
      _ = glib.valueInit(&values[index], type)
    }
    glib.valueSetFlags(&values[0], flags)
    glib.valueSetString(&values[1], owner)
    glib.valueSetEnum(&values[2], 0)
    glib.valueSetObject(&values[3], connection.pointer)
    glib.valueSetInt(&values[4], milliseconds)
    defer { for index in values.indices { glib.valueUnset(&values[index]) } }
    let names = properties.map(cString)
    guard let object = glib.objectNew(type, UInt32(names.count), names, values) else { return nil }
    // With the properties that libsecret sets, GDBus would end the process because of the contradiction.
    guard let name = library.gio.proxyName(object), String(cString: name) == owner else {
      glib.objectUnref(object)
      return nil
    }
    return object
  }

  // GObject's fundamental types, which are part of its binary interface.
  // `G_TYPE_INT`, `G_TYPE_STRING` and `G_TYPE_OBJECT` are macros, which `dlsym` doesn't find.
  private static let (intType, stringType, objectType) = (
    GType(6 << 2), GType(16 << 2), GType(20 << 2)
  )

  /// The type, registered once for the process; 0 if that is impossible.
  private static let type: GType = {
    guard let library = try? SecretLibrary.shared.get() else { return 0 }
    let name = cString(Self.name)
    // The process may contain another copy of this code, as part of a plugin.
    let known = library.glib.typeFromName(name)
    if known != 0 { return known }
    let parent = library.libsecret.serviceType()
    var query = stead_g_type_query()
    library.glib.typeQuery(parent, &query)
    return library.glib.typeRegister(
      parent, name, query.class_size,
      { objectClass, _ in
        objectClass?.assumingMemoryBound(to: stead_g_object_class.self).pointee.constructor =
          construct
      }, query.instance_size, nil, 0)
  }()

  /// The constructor of the derived type: libsecret's, and then the properties that it has overridden.
  private static let construct:
    @convention(c) (GType, UInt32, UnsafePointer<stead_g_property>?) -> GPointer? = {
      type, count, properties in
      guard let library = try? SecretLibrary.shared.get(),
        let parent = library.glib.typeClass(library.glib.typeParent(type)),
        let inherited = parent.assumingMemoryBound(to: stead_g_object_class.self).pointee
          .constructor,
        let object = inherited(type, count, properties)
      else { return nil }
      for property in UnsafeBufferPointer(start: properties, count: Int(count)) {
        guard let name = property.spec?.pointee.name, let value = property.value else { continue }
        if contested.contains(String(cString: name)) {
          library.glib.objectSetProperty(object, name, value)
        }
      }
      return object
    }

  private static func cString(_ text: StaticString) -> GString {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
