/// Functions of libsecret: the session that encrypts secrets on their way, and memory for them.
struct LibsecretFunctions {
  let serviceType: @convention(c) () -> GType
  let ensureSession: @convention(c) (GPointer, GPointer?, GErrorPointer) -> Int32
  let sessionPath: @convention(c) (GPointer) -> GString?
  let encode: @convention(c) (GPointer, GPointer) -> GPointer?
  let decode: @convention(c) (GPointer, GPointer) -> GPointer?
  let valueNew: @convention(c) (UnsafeRawPointer?, Int, GString) -> GPointer
  let valueGet: @convention(c) (GPointer, UnsafeMutablePointer<Int>?) -> UnsafeRawPointer?
  let valueUnref: @convention(c) (GPointer) -> Void

  init(_ library: LoadedLibrary) throws(LoadedLibrary.Missing) {
    serviceType = try library.function("secret_service_get_type")
    ensureSession = try library.function("secret_service_ensure_session_sync")
    sessionPath = try library.function("secret_service_get_session_dbus_path")
    encode = try library.function("secret_service_encode_dbus_secret")
    decode = try library.function("secret_service_decode_dbus_secret")
    valueNew = try library.function("secret_value_new")
    valueGet = try library.function("secret_value_get")
    valueUnref = try library.function("secret_value_unref")
  }
}
