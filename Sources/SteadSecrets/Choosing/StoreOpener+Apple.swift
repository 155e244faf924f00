#if canImport(Security)
  // Not run on this project's machines.
  extension StoreOpener {
    private static let loginName = "login"

    /// The one that all of Apple's systems have, unless the program lacks the entitlement for it.
    static var keychain: StoreAddress? {
      do throws(SecretError) {
        _ = try Keychain(.dataProtection).items(service: "stead.probe")
      } catch  where error.code == .accessDenied {
        return StoreAddress(kind: .keychain, location: loginName)
      } catch {
        // What is wrong is told by the calls that need it.
      }
      return .keychain
    }

    /// By the address, since a program that is signed later must not look elsewhere from then on.
    func openKeychain(_ address: StoreAddress) throws(SecretError) -> any SecretStore {
      Keychain(address.location == Self.loginName ? .login : .dataProtection)
    }
  }
#endif
