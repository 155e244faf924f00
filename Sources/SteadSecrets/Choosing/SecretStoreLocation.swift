public import Foundation

/// Where the secrets of a service are to be.
public enum SecretStoreLocation: Sendable {
  /// Where they are, by the service's record; without one, the best that the system has.
  ///
  /// That is the Keychain on Apple's systems, else the desktop's Secret Service, else, where there is
  /// none or it has never been set up, the service's usual vault. In a sandbox whose desktop has the Secret
  /// portal (Flatpak, Snap), it is the vault, by the portal's secret. The first write makes the record.
  ///
  /// A key file beside its vault protects neither from programs of the same user nor from anyone who has the whole
  /// disk. Where `allowsKeyFile` is false none is made or used: without a better place, calls throw `.notFound`.
  case automatic(allowsKeyFile: Bool)
  /// The desktop's Secret Service.
  case secretService(
    SecretService.Collection = .default, prompts: SecretService.PromptPolicy = .never)
  /// A vault. Without a URL it is `$XDG_DATA_HOME/stead/secrets/SERVICE.vault`. Without a key it is opened by
  /// the systemd credential `stead-vault-key`, where the process has one, by the Secret portal in a sandbox,
  /// or by the key file `$XDG_CONFIG_HOME/stead/secrets.key`. A vault that is to be made where it is missing is
  /// made by the first write; reads find nothing until then.
  case vault(at: URL? = nil, key: VaultKey? = nil, opening: Vault.Opening = .openOrCreate)
  /// A store that the caller has made.
  case store(any SecretStore)

  /// Where the secrets are, or the best that the system has; a key file is allowed.
  public static var automatic: SecretStoreLocation { .automatic(allowsKeyFile: true) }
}
