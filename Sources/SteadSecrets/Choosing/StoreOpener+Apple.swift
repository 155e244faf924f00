#if canImport(Security)
  // Not run on this project's machines.
  extension StoreOpener {
    /// The name of the login keychain in a record.
    private static let loginName = "login"

    /// The data protection keychain, or the login keychain for a program without the entitlement for the first.
    ///
    /// Only a query tells: without the entitlement it fails with `errSecMissingEntitlement`.
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

    /// Opens the keychain that the record names, not the one that a probe would choose: a program that is signed
    /// later would search another keychain from then on.
    func openKeychain(_ address: StoreAddress) throws(SecretError) -> any SecretStore {
      Keychain(address.location == Self.loginName ? .login : .dataProtection)
    }
  }
#endif
