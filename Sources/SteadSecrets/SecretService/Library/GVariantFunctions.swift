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
