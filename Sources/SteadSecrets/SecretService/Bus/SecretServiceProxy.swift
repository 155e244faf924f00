import CSteadSecrets

/// A GObject type, derived from libsecret's `SecretService`, that accepts a private connection.
///
/// libsecret's constructor overrides the requested properties with those for the shared connection. A derived
/// type's constructor runs around it, and can set them again.
enum SecretServiceProxy {
  private static let name: StaticString = "SteadSecretServiceProxy"
  /// No properties, no signals, no starting: nobody would use them.
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
