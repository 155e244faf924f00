#if canImport(Security)
  // Not run on this project's machines.
  extension StoreOpener {
    private static let loginName = "login"

    /// The one that all of Apple's systems have, unless the program lacks its entitlement.
    static var keychain: StoreAddress? {
      do throws(SecretError) {
        _ = try Keychain(.dataProtection).items(service: "stead.probe")
      } catch  where error.code == .accessDenied {
        return StoreAddress(kind: .keychain, location: loginName)
      } catch {
        // The calls that need it report any error.
      }
      return .keychain
    }

    /// By the address, since a program that is signed later must not search elsewhere from then on.
    func openKeychain(_ address: StoreAddress) throws(SecretError) -> any SecretStore {
      Keychain(address.location == Self.loginName ? .login : .dataProtection)
    }
  }
#endif
