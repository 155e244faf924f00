import Foundation
import SteadDefault
import SteadPreferences

// What an app does that was written for the type of that name.
private typealias UserDefaults = Preferences

private struct Launch: DefaultStorable {
  var number: Int
}

extension Preferences.Keys {
  fileprivate var launchCount: Preferences.Key<Int> { .init("launchCount", default: 0) }
}

private struct Settings {
  @Preference(\.launchCount) var launchCount
}

private enum Theme: String { case system, dark }

private enum Direction: Int { case north, south }

#if !canImport(SwiftUI)
  /// Each form that SwiftUI accepts, in the app's own preferences.
  private struct Forms {
    @AppStorage("form.bool") var bool = true
    @AppStorage("form.int") var int = 1
    @AppStorage("form.double") var double = 0.5
    @AppStorage("form.string") var string = "s"
    @AppStorage("form.url") var url = URL(filePath: "/tmp/a")
    @AppStorage("form.data") var data = Data([1])
    @AppStorage("form.date") var date = Date.distantPast
    @AppStorage("form.theme") var theme = Theme.system
    @AppStorage("form.direction") var direction: Direction = .south
    @AppStorage("form.optionalBool") var optionalBool: Bool?
    @AppStorage("form.optionalInt") var optionalInt: Int?
    @AppStorage("form.optionalDouble") var optionalDouble: Double?
    @AppStorage("form.optionalString") var optionalString: String?
    @AppStorage("form.optionalURL") var optionalURL: URL?
    @AppStorage("form.optionalData") var optionalData: Data?
    @AppStorage("form.optionalDate") var optionalDate: Date?
    @AppStorage("form.optionalTheme") var optionalTheme: Theme?
    @AppStorage("form.optionalDirection") var optionalDirection: Direction?

    func set() {
      (bool, int, double, string, url) = (false, 2, 1.5, "t", URL(filePath: "/tmp/b"))
      (data, date, theme, direction) = (Data([2]), .distantFuture, .dark, .north)
      (optionalBool, optionalInt, optionalDouble) = (true, 3, 2.5)
      (optionalString, optionalURL, optionalData) = ("u", URL(filePath: "/tmp/c"), Data([3]))
      (optionalDate, optionalTheme, optionalDirection) = (.distantPast, .dark, .south)
    }

    var areSet: Bool {
      let plain = !bool && int == 2 && double == 1.5 && string == "t" && url.path == "/tmp/b"
      let others = data == Data([2]) && date == .distantFuture && theme == .dark
      let optionals = optionalBool == true && optionalInt == 3 && optionalDouble == 2.5
      let objects = optionalString == "u" && optionalURL?.path == "/tmp/c"
      return plain && others && direction == .north && optionals && objects
        && optionalData == Data([3]) && optionalDate == .distantPast && optionalTheme == .dark
        && optionalDirection == .south
    }
  }
#endif

/// Counts a launch in the standard preferences, says what they had, and ends as by `kill -9`.
func countLaunch() {
  let defaults = UserDefaults.standard
  defaults.register(defaults: ["volume": 0.5])
  #if !canImport(SwiftUI)
    let forms = Forms()
    if defaults.object(forKey: "launchCount") == nil { forms.set() }
    if !forms.areSet { say("error: @AppStorage does not read what it has set") }
  #endif
  let count = Settings().launchCount
  say("\(count) \(defaults.double(forKey: "volume")) \(Launch.read()?.number ?? -1)")
  defaults.set(count + 1, forKey: "launchCount")
  Launch(number: count).write()
  kill(getpid(), SIGKILL)
}
