import SteadPreferences
import Testing

/// Properties that are a typed key's value.
struct PreferenceTests {
  struct Reader {
    @Preference(\.theme) var theme
    @Preference(\.note) var note
    @Preference(\.margins) var margins

    init(_ store: Preferences) {
      _theme = Preference(\.theme, store: store)
      _note = Preference(\.note, store: store)
      _margins = Preference(\.margins, store: store)
    }
  }

  let store = Preferences.inMemory()

  @Test func `reads and writes the key`() {
    let reader = Reader(store)
    #expect(reader.theme == .system)
    reader.theme = .dark
    reader.note = "n"
    reader.margins.right = 8
    #expect(store[\.theme] == .dark)
    #expect(store[\.note] == "n")
    #expect(store[\.margins] == Margins(left: 1, right: 8))
    #expect(Reader(store).theme == .dark)
  }

  @Test func `tells and takes back what was chosen`() {
    let reader = Reader(store)
    #expect(!reader.$theme.isSet)
    reader.theme = .dark
    #expect(reader.$theme.isSet)
    reader.$theme.reset()
    #expect(!reader.$theme.isSet)
    #expect(reader.theme == .system)
    reader.$theme.binding.wrappedValue = .light
    #expect(reader.theme == .light)
  }
}
