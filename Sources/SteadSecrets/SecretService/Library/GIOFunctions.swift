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
