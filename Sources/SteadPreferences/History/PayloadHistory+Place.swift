extension PayloadHistory {
  /// Key and domain, for texts.
  package var place: String { "history \(key) of \(preferences.domain)" }

  /// Whether nothing can be written to the history.
  package var isReadOnly: Bool { preferences.isReadOnly || store.isReadOnly }
}
