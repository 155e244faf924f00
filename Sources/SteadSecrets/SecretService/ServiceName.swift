/// Names from the Secret Service's specification.
enum ServiceName {
  static let bus = "org.freedesktop.secrets"
  static let path = "/org/freedesktop/secrets"
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  /// The schema of items without a special one.
  static let schema = "org.freedesktop.Secret.Generic"
  static let schemaAttribute = "xdg:schema"
  /// The value that replaces a missing path.
  static let noPath = "/"
  /// The program that shows GNOME Keyring's prompts.
  static let prompter = "org.gnome.keyring.SystemPrompter"
}
