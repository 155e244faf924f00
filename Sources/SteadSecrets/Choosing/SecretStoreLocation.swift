public import Foundation

/// Where the secrets of a service are to be.
public enum SecretStoreLocation: Sendable {
  /// Where they are, by the service's record; without one, the best that the system has.
  ///
  /// That is the Keychain on Apple's systems, else the desktop's Secret Service, else, where there is
  /// none or it has never been set up, the usual vault. The first write makes the record.
  case automatic
  /// The desktop's Secret Service.
  case secretService(
    SecretService.Collection = .default, prompts: SecretService.PromptPolicy = .never)
  /// A vault. Without a URL it is `$XDG_DATA_HOME/stead/secrets.vault`. Without a key it is opened by
  /// the systemd credential `stead-vault-key`, where the process has one, or by the key file
  /// `$XDG_CONFIG_HOME/stead/secrets.key`.
  case vault(at: URL? = nil, key: VaultKey? = nil)
  /// A store that the caller has made.
  case store(any SecretStore)
}
