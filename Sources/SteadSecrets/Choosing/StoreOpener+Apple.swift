#if canImport(Security)
  // Not run on this project's machines.
  extension StoreOpener {
    private static let loginName = "login"

    /// The one that all of Apple's systems have, unless the program lacks the entitlement for it.
    static var keychain: ChosenPlace? {
      do throws(SecretError) {
        _ = try Keychain(.dataProtection).items(service: "stead.probe")
      } catch  where error.code == .accessDenied {
        return ChosenPlace(kind: .keychain, location: loginName)
      } catch {
        // What is wrong is told by the calls that need it.
      }
      return .keychain
    }

    /// By the place, since a program that is signed later must not look elsewhere from then on.
    func openKeychain(_ place: ChosenPlace) throws(SecretError) -> any SecretStore {
      Keychain(place.location == Self.loginName ? .login : .dataProtection)
    }
  }
#endif
