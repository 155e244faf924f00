import CSteadSecrets
import Foundation
import SteadFiles

/// libsecret and its dependencies, loaded at run time.
///
/// So no header is needed to build with this package, and a program also starts where the libraries are missing.
/// The functions are in tables by library below. Each has the C type of its declaration in GLib; a wrong one
/// would be undefined behavior, which nothing checks.
struct SecretLibrary: Sendable {
  let glib: GLibFunctions
  let variant: GVariantFunctions
  let gio: GIOFunctions
  let libsecret: LibsecretFunctions
  /// The fork generation of the process that loaded it. GLib's threads do not exist in the child of a fork.
  private let generation: UInt64

  /// Whether this is the process that loaded it.
  var isUsable: Bool { generation == forkGeneration }

  /// The library's file names on the systems.
  static let names = ["libsecret-1.so.0"]

  /// Loaded once; takes about 2 ms.
  static let shared: Result<SecretLibrary, LoadedLibrary.Missing> = load(names)

  /// The library, if it was found and this process may use it.
  ///
  /// - Throws: ``SecretError`` `.unavailable`: `.noLibrary`, or `.forked` in the child of a fork.
  static func usable(
    _ found: Result<SecretLibrary, LoadedLibrary.Missing> = shared
  ) throws(SecretError) -> SecretLibrary {
    switch found {
    // Compared with each call: the process may have been forked since the last one.
    case .success(let library) where library.isUsable: return library
    case .success:
      throw SecretError(
        code: .unavailable,
        message: "The child of a fork cannot use its parent's connection to the desktop. Start a "
          + "program (exec), or read the secret before the fork.",
        unavailability: .forked)
    case .failure(let missing):
      throw SecretError(
        code: .unavailable,
        message:
          "libsecret is not installed, or too old. Install libsecret-1-0 (Debian), libsecret "
          + "(Fedora, Arch, Alpine), or choose the vault.", unavailability: .noLibrary,
        cause: missing)
    }
  }

  static func load(_ names: [String]) -> Result<SecretLibrary, LoadedLibrary.Missing> {
    do throws(LoadedLibrary.Missing) {
      return .success(try SecretLibrary(LoadedLibrary(firstOf: names)))
    } catch {
      return .failure(error)
    }
  }

  private init(_ library: LoadedLibrary) throws(LoadedLibrary.Missing) {
    // The functions of a library's dependencies are found through it, too.
    glib = try GLibFunctions(library)
    variant = try GVariantFunctions(library)
    gio = try GIOFunctions(library)
    libsecret = try LibsecretFunctions(library)
    generation = forkGeneration
  }
}

// MARK: - Loading

/// A shared library loaded by `dlopen`, with those that it needs itself.
struct LoadedLibrary {
  private let handle: UnsafeMutableRawPointer

  /// Loads the first existing library of a list.
  ///
  /// It is never closed: GObject's types cannot be unregistered.
  init(firstOf names: [String]) throws(Missing) {
    for name in names {
      // All symbols now, so that a library with a missing dependency fails here and not in a call.
      if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        self.handle = handle
        return
      }
    }
    throw Missing(name: names.joined(separator: " or "))
  }

  /// A function by its name. `Function` must be a C function type with the actual arguments.
  func function<Function>(_ name: String) throws(Missing) -> Function {
    guard let symbol = dlsym(handle, name) else { throw Missing(name: name) }
    return unsafeBitCast(symbol, to: Function.self)
  }

  /// A library or a function that does not exist.
  struct Missing: Error, CustomStringConvertible {
    let name: String
    var description: String { "\(name) is missing" }
  }
}

// MARK: - libsecret

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

// MARK: - GIO

/// Functions of libgio: the bus.
struct GIOFunctions {
  /// GIO's callback when an operation is done: its source, the outcome, and the user data.
  typealias Ready = @convention(c) (GPointer?, GPointer?, GPointer?) -> Void
  /// GIO's callback for a signal: connection, sender, path, interface, name, parameters, and the user data.
  typealias Signal =
    @convention(c) (
      GPointer?, GString?, GString?, GString?, GString?, GPointer?, GPointer?
    ) -> Void

  let cancellableNew: @convention(c) () -> GPointer
  let cancel: @convention(c) (GPointer) -> Void
  let connect: @convention(c) (GString, UInt32, GPointer?, GPointer?, Ready, GPointer?) -> Void
  let connectFinish: @convention(c) (GPointer, GErrorPointer) -> GPointer?
  let isClosed: @convention(c) (GPointer) -> Int32
  /// connection, destination, path, interface, method, parameters, type of reply, flags,
  /// milliseconds, cancellable, error
  let call:
    @convention(c) (
      GPointer, GString, GString, GString, GString, GPointer?, GString?, UInt32, Int32, GPointer?,
      GErrorPointer
    ) -> GPointer?
  /// The same, with a list of descriptors before the cancellable, and an output for a returned one.
  let callWithDescriptors:
    @convention(c) (
      GPointer, GString, GString, GString, GString, GPointer?, GString?, UInt32, Int32, GPointer?,
      UnsafeMutablePointer<GPointer?>?, GPointer?, GErrorPointer
    ) -> GPointer?
  let descriptorsNew: @convention(c) () -> GPointer
  let descriptorsAppend: @convention(c) (GPointer, Int32, GErrorPointer) -> Int32
  let subscribe:
    @convention(c) (
      GPointer, GString?, GString?, GString?, GString?, GString?, UInt32, Signal, GPointer?,
      GPointer?
    ) -> UInt32
  let unsubscribe: @convention(c) (GPointer, UInt32) -> Void
  let remoteError: @convention(c) (UnsafeMutablePointer<GError>) -> UnsafeMutablePointer<CChar>?
  let escapeAddress: @convention(c) (GString) -> UnsafeMutablePointer<CChar>?
  let isAddress: @convention(c) (GString) -> Int32
  let initable: @convention(c) (GPointer, GPointer?, GErrorPointer) -> Int32
  let proxyName: @convention(c) (GPointer) -> GString?
  let busType: @convention(c) () -> GType
  let proxyFlagsType: @convention(c) () -> GType

  init(_ library: LoadedLibrary) throws(LoadedLibrary.Missing) {
    cancellableNew = try library.function("g_cancellable_new")
    cancel = try library.function("g_cancellable_cancel")
    connect = try library.function("g_dbus_connection_new_for_address")
    connectFinish = try library.function("g_dbus_connection_new_for_address_finish")
    isClosed = try library.function("g_dbus_connection_is_closed")
    call = try library.function("g_dbus_connection_call_sync")
    callWithDescriptors = try library.function("g_dbus_connection_call_with_unix_fd_list_sync")
    descriptorsNew = try library.function("g_unix_fd_list_new")
    descriptorsAppend = try library.function("g_unix_fd_list_append")
    subscribe = try library.function("g_dbus_connection_signal_subscribe")
    unsubscribe = try library.function("g_dbus_connection_signal_unsubscribe")
    remoteError = try library.function("g_dbus_error_get_remote_error")
    escapeAddress = try library.function("g_dbus_address_escape_value")
    isAddress = try library.function("g_dbus_is_address")
    initable = try library.function("g_initable_init")
    proxyName = try library.function("g_dbus_proxy_get_name")
    busType = try library.function("g_bus_type_get_type")
    proxyFlagsType = try library.function("g_dbus_proxy_flags_get_type")
  }
}

// MARK: - GVariant

/// Functions of libglib for the values that messages carry.
struct GVariantFunctions {
  let refSink: @convention(c) (GPointer) -> GPointer
  let unref: @convention(c) (GPointer) -> Void
  let typeString: @convention(c) (GPointer) -> GString
  let newBoolean: @convention(c) (Int32) -> GPointer
  let newUInt32: @convention(c) (UInt32) -> GPointer
  let newHandle: @convention(c) (Int32) -> GPointer
  let newString: @convention(c) (GString) -> GPointer
  let newPath: @convention(c) (GString) -> GPointer
  let newVariant: @convention(c) (GPointer) -> GPointer
  let newEntry: @convention(c) (GPointer, GPointer) -> GPointer
  let newArray: @convention(c) (GString, UnsafePointer<GPointer>?, Int) -> GPointer
  let newTuple: @convention(c) (UnsafePointer<GPointer>?, Int) -> GPointer
  let count: @convention(c) (GPointer) -> Int
  let child: @convention(c) (GPointer, Int) -> GPointer
  let inner: @convention(c) (GPointer) -> GPointer
  let string: @convention(c) (GPointer, UnsafeMutablePointer<Int>?) -> GString
  let boolean: @convention(c) (GPointer) -> Int32
  let uint32: @convention(c) (GPointer) -> UInt32
  let uint64: @convention(c) (GPointer) -> UInt64

  init(_ library: LoadedLibrary) throws(LoadedLibrary.Missing) {
    refSink = try library.function("g_variant_ref_sink")
    unref = try library.function("g_variant_unref")
    typeString = try library.function("g_variant_get_type_string")
    newBoolean = try library.function("g_variant_new_boolean")
    newUInt32 = try library.function("g_variant_new_uint32")
    newHandle = try library.function("g_variant_new_handle")
    newString = try library.function("g_variant_new_string")
    newPath = try library.function("g_variant_new_object_path")
    newVariant = try library.function("g_variant_new_variant")
    newEntry = try library.function("g_variant_new_dict_entry")
    newArray = try library.function("g_variant_new_array")
    newTuple = try library.function("g_variant_new_tuple")
    count = try library.function("g_variant_n_children")
    child = try library.function("g_variant_get_child_value")
    inner = try library.function("g_variant_get_variant")
    string = try library.function("g_variant_get_string")
    boolean = try library.function("g_variant_get_boolean")
    uint32 = try library.function("g_variant_get_uint32")
    uint64 = try library.function("g_variant_get_uint64")
  }
}

// MARK: - GLib

typealias GError = stead_g_error
typealias GValue = stead_g_value

/// A pointer to a GLib object.
typealias GPointer = UnsafeMutableRawPointer
/// A C string owned by somebody else.
typealias GString = UnsafePointer<CChar>
/// Where a call leaves its error.
typealias GErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
/// The number of a GObject type.
typealias GType = Int

/// Functions of libglib and libgobject, none of them variadic.
struct GLibFunctions {
  let errorFree: @convention(c) (UnsafeMutablePointer<GError>) -> Void
  let free: @convention(c) (GPointer?) -> Void
  let quarkName: @convention(c) (UInt32) -> GString?
  let isUTF8: @convention(c) (UnsafeRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32

  let contextNew: @convention(c) () -> GPointer
  let contextUnref: @convention(c) (GPointer) -> Void
  let contextPush: @convention(c) (GPointer) -> Void
  let contextPop: @convention(c) (GPointer) -> Void
  let contextIterate: @convention(c) (GPointer, Int32) -> Int32
  let timeoutSource: @convention(c) (UInt32) -> GPointer
  let sourceSetCallback:
    @convention(c) (GPointer, @convention(c) (GPointer?) -> Int32, GPointer?, GPointer?) -> Void
  let sourceAttach: @convention(c) (GPointer, GPointer) -> UInt32
  let sourceDestroy: @convention(c) (GPointer) -> Void
  let sourceUnref: @convention(c) (GPointer) -> Void

  let objectRef: @convention(c) (GPointer) -> GPointer
  let objectUnref: @convention(c) (GPointer) -> Void
  let objectNew:
    @convention(c) (GType, UInt32, UnsafePointer<GString>?, UnsafePointer<GValue>?) -> GPointer?
  let objectSetProperty: @convention(c) (GPointer, GString, UnsafePointer<GValue>) -> Void
  let valueInit: @convention(c) (UnsafeMutablePointer<GValue>, GType) -> GPointer?
  let valueUnset: @convention(c) (UnsafeMutablePointer<GValue>) -> Void
  let valueSetObject: @convention(c) (UnsafeMutablePointer<GValue>, GPointer) -> Void
  let valueSetString: @convention(c) (UnsafeMutablePointer<GValue>, GString) -> Void
  let valueSetInt: @convention(c) (UnsafeMutablePointer<GValue>, Int32) -> Void
  let valueSetEnum: @convention(c) (UnsafeMutablePointer<GValue>, Int32) -> Void
  let valueSetFlags: @convention(c) (UnsafeMutablePointer<GValue>, UInt32) -> Void
  let typeQuery: @convention(c) (GType, UnsafeMutablePointer<stead_g_type_query>) -> Void
  let typeRegister:
    @convention(c) (
      GType, GString, UInt32, @convention(c) (GPointer?, GPointer?) -> Void, UInt32, GPointer?,
      UInt32
    ) -> GType
  let typeFromName: @convention(c) (GString) -> GType
  let typeParent: @convention(c) (GType) -> GType
  let typeClass: @convention(c) (GType) -> GPointer?

  init(_ library: LoadedLibrary) throws(LoadedLibrary.Missing) {
    errorFree = try library.function("g_error_free")
    free = try library.function("g_free")
    quarkName = try library.function("g_quark_to_string")
    isUTF8 = try library.function("g_utf8_validate")
    contextNew = try library.function("g_main_context_new")
    contextUnref = try library.function("g_main_context_unref")
    contextPush = try library.function("g_main_context_push_thread_default")
    contextPop = try library.function("g_main_context_pop_thread_default")
    contextIterate = try library.function("g_main_context_iteration")
    timeoutSource = try library.function("g_timeout_source_new")
    sourceSetCallback = try library.function("g_source_set_callback")
    sourceAttach = try library.function("g_source_attach")
    sourceDestroy = try library.function("g_source_destroy")
    sourceUnref = try library.function("g_source_unref")
    objectRef = try library.function("g_object_ref")
    objectUnref = try library.function("g_object_unref")
    objectNew = try library.function("g_object_new_with_properties")
    objectSetProperty = try library.function("g_object_set_property")
    valueInit = try library.function("g_value_init")
    valueUnset = try library.function("g_value_unset")
    valueSetObject = try library.function("g_value_set_object")
    valueSetString = try library.function("g_value_set_string")
    valueSetInt = try library.function("g_value_set_int")
    valueSetEnum = try library.function("g_value_set_enum")
    valueSetFlags = try library.function("g_value_set_flags")
    typeQuery = try library.function("g_type_query")
    typeRegister = try library.function("g_type_register_static_simple")
    typeFromName = try library.function("g_type_from_name")
    typeParent = try library.function("g_type_parent")
    typeClass = try library.function("g_type_class_peek")
  }
}
