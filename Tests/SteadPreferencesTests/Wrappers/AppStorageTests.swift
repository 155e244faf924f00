#if !canImport(SwiftUI)
  import Foundation
  import SteadPreferences
  import Testing

  /// `@AppStorage` as SwiftUI declares it.
  struct AppStorageTests {
    struct Everything {
      @AppStorage("bool") var bool = true
      @AppStorage("int") var int = 1
      @AppStorage("double") var double = 0.5
      @AppStorage("string") var string = "s"
      @AppStorage("url") var url = URL(filePath: "/tmp/a")
      @AppStorage("data") var data = Data([1])
      @AppStorage("date") var date = Date(timeIntervalSinceReferenceDate: 5)
      @AppStorage("theme") var theme = Theme.system
      @AppStorage("direction") var direction: Direction = .south
      @AppStorage("strings") var strings: [String] = []
      @AppStorage("optionalBool") var optionalBool: Bool?
      @AppStorage("optionalInt") var optionalInt: Int?
      @AppStorage("optionalDouble") var optionalDouble: Double?
      @AppStorage("optionalString") var optionalString: String?
      @AppStorage("optionalURL") var optionalURL: URL?
      @AppStorage("optionalData") var optionalData: Data?
      @AppStorage("optionalDate") var optionalDate: Date?
      @AppStorage("optionalTheme") var optionalTheme: Theme?
      @AppStorage("optionalDirection") var optionalDirection: Direction?
      @AppStorage("optionalStrings") var optionalStrings: [String]?

      init(_ store: Preferences) {
        _bool = AppStorage(wrappedValue: true, "bool", store: store)
        _int = AppStorage(wrappedValue: 1, "int", store: store)
        _double = AppStorage(wrappedValue: 0.5, "double", store: store)
        _string = AppStorage(wrappedValue: "s", "string", store: store)
        _url = AppStorage(wrappedValue: URL(filePath: "/tmp/a"), "url", store: store)
        _data = AppStorage(wrappedValue: Data([1]), "data", store: store)
        _date = AppStorage(
          wrappedValue: Date(timeIntervalSinceReferenceDate: 5), "date", store: store)
        _theme = AppStorage(wrappedValue: .system, "theme", store: store)
        _direction = AppStorage(wrappedValue: .south, "direction", store: store)
        _strings = AppStorage(wrappedValue: [], "strings", store: store)
        _optionalBool = AppStorage("optionalBool", store: store)
        _optionalInt = AppStorage("optionalInt", store: store)
        _optionalDouble = AppStorage("optionalDouble", store: store)
        _optionalString = AppStorage("optionalString", store: store)
        _optionalURL = AppStorage("optionalURL", store: store)
        _optionalData = AppStorage("optionalData", store: store)
        _optionalDate = AppStorage("optionalDate", store: store)
        _optionalTheme = AppStorage("optionalTheme", store: store)
        _optionalDirection = AppStorage("optionalDirection", store: store)
        _optionalStrings = AppStorage("optionalStrings", store: store)
      }
    }

    /// Both a raw value and a form of its own; the raw value comes first.
    enum Shade: String, Codable, PreferenceValue { case pale, deep }

    /// The same forms with a store, as attributes have it.
    struct Declared {
      static let store = Preferences.inMemory("declared")
      @AppStorage("bool", store: Declared.store) var bool = true
      @AppStorage("int", store: Declared.store) var int = 1
      @AppStorage("double", store: Declared.store) var double = 0.5
      @AppStorage("whole", store: Declared.store) var whole: Double = 1
      @AppStorage("string", store: Declared.store) var string = "s"
      @AppStorage("url", store: Declared.store) var url = URL(filePath: "/tmp/a")
      @AppStorage("data", store: Declared.store) var data = Data([1])
      @AppStorage("date", store: Declared.store) var date = Date.distantPast
      @AppStorage("theme", store: Declared.store) var theme = Theme.system
      @AppStorage("direction", store: Declared.store) var direction: Direction = .south
      @AppStorage("shade", store: Declared.store) var shade = Shade.pale
      @AppStorage("optionalBool", store: Declared.store) var optionalBool: Bool?
      @AppStorage("optionalInt", store: Declared.store) var optionalInt: Int?
      @AppStorage("optionalDouble", store: Declared.store) var optionalDouble: Double?
      @AppStorage("optionalString", store: Declared.store) var optionalString: String?
      @AppStorage("optionalURL", store: Declared.store) var optionalURL: URL?
      @AppStorage("optionalData", store: Declared.store) var optionalData: Data?
      @AppStorage("optionalDate", store: Declared.store) var optionalDate: Date?
      @AppStorage("optionalTheme", store: Declared.store) var optionalTheme: Theme?
      @AppStorage("optionalDirection", store: Declared.store) var optionalDirection: Direction?
      @AppStorage("optionalShade", store: Declared.store) var optionalShade: Shade?
    }

    @Test func `takes a store in each form`() throws {
      let all = Declared()
      #expect(all.whole == 1 && all.shade == .pale && all.optionalShade == nil)
      all.bool.toggle()
      all.int += 1
      all.double += 1
      all.whole += 1
      all.string += "t"
      all.url.append(path: "b")
      all.data.append(2)
      all.date = .distantFuture
      all.theme = .dark
      all.direction = .north
      all.shade = .deep
      all.optionalBool = true
      all.optionalInt = 2
      all.optionalDouble = 0.5
      all.optionalString = "s"
      all.optionalURL = URL(filePath: "/tmp")
      all.optionalData = Data()
      all.optionalDate = .distantPast
      all.optionalTheme = .light
      all.optionalDirection = .south
      all.optionalShade = .deep
      let store = Declared.store
      #expect(store.keys.count == 21)
      #expect(!store.bool(forKey: "bool") && store.integer(forKey: "int") == 2)
      #expect(store.double(forKey: "double") == 1.5 && store.double(forKey: "whole") == 2)
      #expect(store.string(forKey: "string") == "st" && all.data == Data([1, 2]))
      #expect(store.url(forKey: "url")?.path == "/tmp/a/b" && all.date == .distantFuture)
      #expect(store.string(forKey: "shade") == "deep" && all.optionalShade == .deep)
      #expect(all.theme == .dark && all.direction == .north && all.optionalDirection == .south)
      #expect(all.optionalBool == true && all.optionalInt == 2 && all.optionalDouble == 0.5)
      #expect(all.optionalString == "s" && all.optionalURL?.path == "/tmp")
      #expect(all.optionalData == Data() && all.optionalDate == .distantPast)
      #expect(all.optionalTheme == .light)
    }

    let store = Preferences.inMemory()

    @Test func `has its defaults`() {
      let all = Everything(store)
      #expect(all.bool && all.int == 1 && all.double == 0.5 && all.string == "s")
      #expect(all.url.path == "/tmp/a" && all.data == Data([1]) && all.strings.isEmpty)
      #expect(all.date == Date(timeIntervalSinceReferenceDate: 5))
      #expect(all.theme == .system && all.direction == .south)
      #expect(all.optionalBool == nil && all.optionalInt == nil && all.optionalDouble == nil)
      #expect(all.optionalString == nil && all.optionalURL == nil && all.optionalData == nil)
      #expect(all.optionalDate == nil && all.optionalTheme == nil && all.optionalStrings == nil)
      #expect(all.optionalDirection == nil)
      #expect(store.storedKeys.isEmpty)
    }

    /// What a property sets, the methods of `UserDefaults` read.
    @Test func `stores as UserDefaults does`() throws {
      let all = Everything(store)
      all.bool = false
      all.int = 2
      all.double = 1.5
      all.string = "t"
      all.url = try #require(URL(string: "https://example.com"))
      all.data = Data([2])
      all.date = Date(timeIntervalSinceReferenceDate: 6)
      all.theme = .dark
      all.direction = .north
      all.strings = ["a"]
      all.strings.append("b")
      #expect(store.object(forKey: "bool") as? Bool == false)
      #expect(store.integer(forKey: "int") == 2)
      #expect(store.double(forKey: "double") == 1.5)
      #expect(store.string(forKey: "string") == "t")
      #expect(store.url(forKey: "url")?.host() == "example.com")
      #expect(store.data(forKey: "data") == Data([2]))
      #expect(store.object(forKey: "date") as? Date == all.date)
      #expect(store.string(forKey: "theme") == "dark")
      #expect(store.propertyList(forKey: "direction") == .integer(0))
      #expect(store.stringArray(forKey: "strings") == ["a", "b"])
      #expect(all.date == Date(timeIntervalSinceReferenceDate: 6))
      #expect(all.theme == .dark && all.direction == .north && all.strings == ["a", "b"])
    }

    @Test func `stores optionals`() {
      let all = Everything(store)
      all.optionalBool = true
      all.optionalInt = 2
      all.optionalDouble = 0.5
      all.optionalString = "s"
      all.optionalURL = URL(filePath: "/tmp")
      all.optionalData = Data()
      all.optionalDate = .distantPast
      all.optionalTheme = .light
      all.optionalDirection = .south
      all.optionalStrings = []
      #expect(store.storedKeys.count == 10)
      #expect(all.optionalBool == true && all.optionalInt == 2 && all.optionalDouble == 0.5)
      #expect(all.optionalString == "s" && all.optionalData == Data())
      #expect(all.optionalTheme == .light && all.optionalDirection == .south)
      #expect(all.optionalURL?.path == "/tmp" && all.optionalStrings == [])
      #expect(all.optionalDate == .distantPast)
      all.optionalBool = nil
      all.optionalTheme = nil
      all.optionalStrings = nil
      #expect(store.storedKeys.count == 7)
      #expect(all.optionalBool == nil && all.optionalTheme == nil && all.optionalStrings == nil)
    }

    @Test func `properties of one key agree`() {
      let (one, other) = (Everything(store), Everything(store))
      one.theme = .light
      #expect(other.theme == .light)
      store.removeObject(forKey: "theme")
      #expect(one.theme == .system)
    }

    @Test func `hands on a binding`() {
      let all = Everything(store)
      let binding: PreferenceBinding<String> = all.$string
      binding.wrappedValue = "bound"
      #expect(all.string == "bound")
      all.string = "set"
      #expect(binding.wrappedValue == "set")
    }

    @Test func `binds members of a value`() {
      let key = Preferences.Key<Margins>("margins", default: Margins())
      let margins = Preference(key, store: store).projectedValue.binding
      margins.left.wrappedValue = 7
      #expect(store[key] == Margins(left: 7, right: 2))
      let fixed = PreferenceBinding.constant(3)
      fixed.wrappedValue = 4
      #expect(fixed.wrappedValue == 3)
    }

    /// A row that is handed a binding, as a view would be.
    struct Row {
      @PreferenceBinding var title: String
      func rename() { title += "!" }
    }

    @Test func `Binding is a wrapper as well`() {
      let all = Everything(store)
      Row(title: all.$string).rename()
      #expect(all.string == "s!")
      let row = Row(title: all.$string)
      row.$title.wrappedValue = "x"
      #expect(all.string == "x")
    }

    @Test func `keeps aside what does not decode`() {
      store.set("sepia", forKey: "theme")
      let log = ErrorLog(store)
      let all = Everything(store)
      #expect(all.theme == .system)
      all.theme = .dark
      #expect(store.string(forKey: "theme.undecodable") == "sepia")
      #expect(log.codes == [.doesNotDecode, .doesNotDecode])
    }

    @MainActor final class Model {
      @AppStorage("title") var title = "none"
      init(_ store: Preferences) {
        _title = AppStorage(wrappedValue: "none", "title", store: store)
      }
    }

    actor Worker {
      @AppStorage("jobs") var jobs = 0
      init(_ store: Preferences) {
        _jobs = AppStorage(wrappedValue: 0, "jobs", store: store)
      }
      func work() { jobs += 1 }
    }

    @Test func `lives in classes and actors`() async {
      let model = await Model(store)
      await MainActor.run { model.title = "main" }
      #expect(store.string(forKey: "title") == "main")
      let worker = Worker(store)
      await withTaskGroup { group in
        for _ in 0..<100 { group.addTask { await worker.work() } }
      }
      #expect(await worker.jobs == 100)
    }
  }
#endif
