import CSteadSecrets

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
