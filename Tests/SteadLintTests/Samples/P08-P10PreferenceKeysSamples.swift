extension RuleSamples {
  static let p08 = RuleSamples(
    rule: "P08",
    flagged: [
      #"UserDefaults.standard.set(photo.pngData(), forKey: "avatar") // !"#,
      #"UserDefaults.standard.set(image.jpegData(compressionQuality: 1), forKey: "a") // !"#,
      #"""
      func keep(_ image: UIImage) {
        let data = image.jpegData(compressionQuality: 0.8)
        UserDefaults.standard.set(data, forKey: "background") // !
      }
      """#,
      #"""
      func keep(_ image: UIImage, defaults: UserDefaults) {
        guard let bytes = image.heicData() else { return }
        defaults.set(bytes, forKey: "photo") // !
      }
      """#,
      #"sharedDefaults.setValue(icon.tiffRepresentation, forKey: "icon") // !"#,
      #"UserDefaults(suiteName: "g")?.set(UIImagePNGRepresentation(image), forKey: "image") // !"#,
      #"""
      final class Log {
        var lines: [Line] = []
        func add(_ line: Line) {
          lines.append(line) // ?
          defaults.set(try? JSONEncoder().encode(lines), forKey: "lines")
        }
      }
      """#,
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) {
          items.insert(item, at: 0) // ?
          save()
        }
        private func save() {
          guard let data = try? JSONEncoder().encode(items) else { return }
          UserDefaults.standard.set(data, forKey: "history")
        }
      }
      """#,
    ],
    silent: [
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) {
          items.insert(item, at: 0)
          if items.count > 500 { items.removeLast(items.count - 500) }
          UserDefaults.standard.set(try? JSONEncoder().encode(items), forKey: "history")
        }
      }
      """#,
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) throws {
          items.append(item)
          try JSONEncoder().encode(items).write(to: url, options: .atomic)
        }
      }
      """#,
      #"UserDefaults.standard.set(photoName, forKey: "avatar")"#,
      #"try photo.pngData()?.write(to: url)"#,
      #"cache.set(photo.pngData(), forKey: "avatar")"#,
      #"func f() { let data = photo.pngData(); upload(data); UserDefaults.standard.set(name, forKey: "n") }"#,
      #"UserDefaults.standard.removeObject(forKey: "image")"#,
      #"UserDefaults.standard.set(data, forKey: "data")"#,
    ])

  static let p09 = RuleSamples(
    rule: "P09",
    flagged: [
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "size") } // ?
      func b() -> Int { UserDefaults.standard.integer(forKey: "size") }
      """#,
      #"""
      func a() { UserDefaults.standard.set(true, forKey: "didOnboard") }
      func b() -> Bool { UserDefaults.standard.bool(forKey: "didOnbord") } // !
      """#,
      #"""
      enum DefaultsKeys {
        static let theme = "theme"
      }
      func a() { UserDefaults.standard.set("dark", forKey: "theme") } // ?
      """#,
      #"""
      struct A { @AppStorage("fontSize") var size = 12 } // ?
      // file: B.swift
      struct B { @AppStorage("fontSize") var size = 12 }
      """#,
      #"""
      extension Settings { enum Key {} }
      extension Settings.Key { static let count = "entryCount" }
      // file: Use.swift
      func use() -> Int { defaults.integer(forKey: "entryCount") } // ?
      """#,
      #"""
      func a() { defaults.set(3, forKey: "retries") }
      func b() -> Int { defaults.integer(forKey: "retriess") } // !
      """#,
    ],
    silent: [
      #"func a() { UserDefaults.standard.set(1, forKey: "size") }"#,
      #"""
      enum Keys { static let size = "size" }
      func a() { UserDefaults.standard.set(1, forKey: Keys.size) }
      func b() -> Int { UserDefaults.standard.integer(forKey: Keys.size) }
      """#,
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "volume1") }
      func b() -> Int { UserDefaults.standard.integer(forKey: "volume2") }
      """#,
      #"""
      func a() { keychain.set("a", forKey: "size") }
      func b() { keychain.set("b", forKey: "size") }
      """#,
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "width") }
      func b() -> Int { UserDefaults.standard.integer(forKey: "height") }
      """#,
      #"func a() { UserDefaults.standard.set(1, forKey: "n"); print(UserDefaults.standard.integer(forKey: "n")) }"#,
    ])

  static let p10 = RuleSamples(
    rule: "P10",
    flagged: [
      #"struct V { @AppStorage("settings.fontSize") var size = 12 } // ?"#,
      #"struct V { @AppStorage("@last") var last = "" } // ?"#,
      #"UserDefaults.standard.addObserver(self, forKeyPath: "a.b", options: [], context: nil) // !"#,
      #"""
      enum Keys { static let mode = "editor.mode" }
      struct V { @AppStorage(Keys.mode) var mode = 0 } // ?
      """#,
      #"struct V { @AppStorage("com.example.app.sound", store: .shared) var sound = true } // ?"#,
      #"""
      struct V { @AppStorage(Key.size.rawValue) var size = 1 } // ?
      // file: Key.swift
      enum Key: String { case size = "window.size" }
      """#,
      #"UserDefaults.standard.set(1, forKey: "AppleLaunchCount") // ?"#,
      #"struct V { @AppStorage("com.apple.example.count") var count = 0 } // ?"#,
    ],
    silent: [
      #"UserDefaults.standard.set(["de"], forKey: "AppleLanguages")"#,
      #"UserDefaults.standard.set(1, forKey: "apples"); UserDefaults.standard.set(1, forKey: "Applejuice")"#,
      #"let style = UserDefaults.standard.string(forKey: "AppleInterfaceStyle")"#,
      #"struct V { @AppStorage("fontSize") var size = 12 }"#,
      #"UserDefaults.standard.set(1, forKey: "settings.fontSize")"#,
      #"UserDefaults.standard.addObserver(self, forKeyPath: "size", options: [], context: nil)"#,
      #"import SteadPreferences"# + "\n"
        + #"struct V { @AppStorage("settings.fontSize") var size = 12 }"#,
      #"player.addObserver(self, forKeyPath: "item.status", options: [], context: nil)"#,
      #"let size = UserDefaults.standard.integer(forKey: "a.b")"#,
      #"struct V { @SceneStorage("selected.tab") var tab = 1 }"#,
    ])
}
