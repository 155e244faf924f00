extension Store {
  /// Swift code that declares the store and uses it once: a complete file that compiles.
  public var declaration: String {
    switch self {
    case .preferences:
      """
      import SteadPreferences

      extension Preferences.Keys {
        var theme: Preferences.Key<String> { .init("theme", default: "system") }
      }

      func useTheme(_ preferences: Preferences) {
        preferences[\\.theme] = "dark"
      }
      """
    case .managedPreferences:
      """
      import SteadPreferences

      // /etc/stead/managed/org.example.Notes.plist has the administrator's value.
      func updatesAreAllowed(_ preferences: Preferences) -> Bool {
        preferences.bool(forKey: "updatesAreAllowed")
      }
      """
    case .secrets:
      """
      import SteadSecrets

      func keepToken(_ token: String) throws {
        let secrets = try Secrets(service: "org.example.Notes")
        try secrets.set(token, for: "token")
      }
      """
    case .encryptedFile:
      """
      import Crypto
      import Foundation
      import SteadFiles
      import SteadSecrets

      func lettersKey() throws -> SymmetricKey {
        let secrets = try Secrets(service: "org.example.Notes")
        if let kept = try secrets.data(for: "letters key") { return SymmetricKey(data: kept) }
        let new = SymmetricKey(size: .bits256)
        // Throws if another process has inserted a key first: call this again then.
        try secrets.insert(new.withUnsafeBytes { Data($0) }, for: "letters key")
        return new
      }

      func writeLetters(_ letters: Data, to url: URL) throws {
        let sealed = try ChaChaPoly.seal(letters, using: lettersKey())
        try AtomicFile(url).replace(with: sealed.combined)
      }
      """
    case .payloadHistory:
      """
      import Foundation
      import SteadPreferences

      struct Generation: Codable, Identifiable, Sendable {
        var id: UUID
        var prompt: String
        var createdAt: Date
      }

      func keepGeneration(_ generation: Generation) throws {
        let history = try PayloadHistory<Generation>("generation_history", limit: 500)
        try history.prepend(generation)
      }
      """
    case .records:
      """
      import Foundation
      import SwiftData

      @Model final class Task {
        @Attribute(.unique) var id: UUID
        var title: String
        var createdAt: Date

        init(title: String) {
          (id, self.title, createdAt) = (UUID(), title, .now)
        }
      }

      func makeTasks(in store: URL) throws -> ModelContainer {
        try ModelContainer(for: Task.self, configurations: ModelConfiguration(url: store))
      }
      """
    case .recordsWithFiles:
      """
      import Foundation
      import SwiftData

      @Model final class Photo {
        var takenAt: Date
        @Attribute(.externalStorage) var image: Data

        init(takenAt: Date, image: Data) {
          (self.takenAt, self.image) = (takenAt, image)
        }
      }
      """
    case .coreData:
      """
      import CoreData

      let container = NSPersistentContainer(name: "Notes")
      """
    case .file:
      """
      import Foundation
      import SteadFiles

      func saveDrawing(_ data: Data, named name: String) throws {
        let directories = try AppDirectories(id: "org.example.Notes")
        let folder = try directories.create(\\.data)
        try AtomicFile(folder.appending(path: name)).replace(with: data)
      }
      """
    case .temporaryFile:
      """
      import Foundation
      import SteadFiles

      func unpack(_ archive: Data) throws -> URL {
        let directories = try AppDirectories(id: "org.example.Notes")
        let url = try directories.create(\\.temporary).appending(path: UUID().uuidString)
        try AtomicFile(url).replace(with: archive)
        return url
      }
      """
    case .memoryCache:
      """
      import Foundation
      import SteadCaches

      let thumbnails = MemoryCache<URL, Data>(totalCostLimit: 32 << 20)

      func thumbnail(of url: URL) async throws -> Data {
        try await thumbnails.value(for: url, cost: { $0.count }) { try Data(contentsOf: url) }
      }
      """
    case .diskCache:
      """
      import Foundation
      import SteadCaches
      import SteadFiles

      func makePictures() throws -> LayeredCache<Data> {
        let directories = try AppDirectories(id: "org.example.Notes")
        let limits = DiskCache.Limits(totalSizeLimit: 100 << 20)
        return LayeredCache(over: DiskCache(named: "pictures", in: directories, limits: limits))
      }
      """
    case .httpCache:
      """
      import Foundation
      import SteadCaches
      import SteadFiles

      #if canImport(FoundationNetworking)
        import FoundationNetworking
      #endif

      func load(_ url: URL) async throws -> Data {
        let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "org.example.Notes"))
        return try await URLSession.shared.data(for: URLRequest(url: url), cache: cache).0
      }
      """
    }
  }
}
