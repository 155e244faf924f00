import Foundation
import SteadPreferences
import SteadSecrets
import SwiftData

/// The files of the program are named after it.
let app = "starter"

// A preference: on disk when the line is done. The domain is named, as the store below: `Preferences.standard` is named
// after the executable, and a renamed one would begin with empty settings.
let preferences = try Preferences(domain: app)
preferences[\.runs] += 1
print("Run \(preferences[\.runs])")

// A model. The store's place is named: without a URL it is in a directory with the name of the executable.
let store = URL.applicationSupportDirectory.appending(path: "\(app)/notes.store")
let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: store))
let context = ModelContext(container)
context.insert(Note(text: "Run \(preferences[\.runs])"))
try context.save()

let newest = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.made, order: .reverse)])
print("Notes: \(try context.fetch(newest).map(\.text).joined(separator: ", "))")

// A secret: in the desktop's keyring, or in an encrypted vault where there is no desktop.
let secrets = try Secrets(service: app)
if try !secrets.contains("token") { try secrets.set(UUID().uuidString, for: "token") }
print("Token: \(try secrets.string(for: "token")?.count ?? 0) characters")
