/// libsecret's session with one process that offers the service: secrets travel encrypted under a key that
/// the two have agreed on.
// Sendable: libsecret's session does not change once it exists, and its uses here, encoding and decoding,
// only read it.
final class SecretSession: @unchecked Sendable {
  /// Text, and anything else.
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

  /// Encodes a secret for sending. It is in libsecret's locked memory until it is encrypted.
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

  /// The secret in a reply, copied out of libsecret's locked memory, which is wiped.
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
