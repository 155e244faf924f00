import SteadFiles

/// libsecret and its dependencies, loaded at run time, so that a program built with this package also starts
/// where they are missing.
struct SecretLibrary: Sendable {
  let glib: GLibFunctions
  let variant: GVariantFunctions
  let gio: GIOFunctions
  let libsecret: LibsecretFunctions
  /// The process that loaded it. GLib's threads do not exist in the child of a fork.
  private let generation: UInt64

  /// Whether this is the process that loaded it.
  var isUsable: Bool { generation == forkGeneration }

  /// The library's file names on the systems.
  static let names = ["libsecret-1.so.0"]

  /// Loaded once; takes about 2 ms.
  static let shared: Result<SecretLibrary, LoadedLibrary.Missing> = load(names)

  /// The library, if it was found and this process may use it.
  static func usable(
    _ found: Result<SecretLibrary, LoadedLibrary.Missing> = shared
  ) throws(SecretError) -> SecretLibrary {
    switch found {
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
