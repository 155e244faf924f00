public import Foundation

/// Where to store the secrets of a service.
public enum SecretStoreLocation: Sendable {
  /// The recorded location of the service's secrets; without a record, the best that the system has.
  ///
  /// That is the Keychain on Apple's systems, otherwise the desktop's Secret Service, or, if that is missing
  /// or has never been set up, the service's default vault. In a sandbox whose desktop has the Secret portal
  /// (Flatpak, Snap), it is the vault, opened by the portal's secret. The first write makes the record.
  ///
  /// A key file next to its vault protects neither from programs of the same user nor from anyone who has the
  /// whole disk. If `allowsKeyFile` is false, none is created or used: without a better location, calls throw
  /// `.notFound`.
  case automatic(allowsKeyFile: Bool)
  /// The desktop's Secret Service.
  case secretService(
    SecretService.Collection = .default, prompts: SecretService.PromptPolicy = .never)
  /// A vault. Without a URL it is `$XDG_DATA_HOME/stead/secrets/SERVICE.vault`. Without a key it is opened by
  /// the systemd credential `stead-vault-key`, if the process has one, by the Secret portal in a sandbox, or
  /// by the key file `$XDG_CONFIG_HOME/stead/secrets.key`. With `.openOrCreate` the first write creates a
  /// missing vault; reads find nothing until then.
  case vault(at: URL? = nil, key: VaultKey? = nil, opening: Vault.Opening = .openOrCreate)
  /// A store that the caller has made.
  case store(any SecretStore)

  /// The recorded location, or the best that the system has; a key file is allowed.
  public static var automatic: SecretStoreLocation { .automatic(allowsKeyFile: true) }
}
