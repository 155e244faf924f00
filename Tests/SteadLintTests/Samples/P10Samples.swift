extension RuleSamples {
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
