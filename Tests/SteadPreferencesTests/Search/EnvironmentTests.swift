import Foundation
import Testing

@testable import SteadPreferences

struct EnvironmentTests {
  private func places(_ variables: [String: String]) -> DomainDirectories {
    Preferences.Environment(variables: variables).search.directories
  }

  @Test func theUsersPlaceIsTheSpecifications() {
    #expect(places(["HOME": "/h"]).config?.filePath == "/h/.config/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]).config?.filePath == "/c/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": "c"]).config?.filePath == "/h/.config/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": ""]).config?.filePath == "/h/.config/")
  }

  @Test func allUsersPlacesAreTheSpecifications() {
    #expect(places([:]).allUsers.map(\.filePath) == ["/etc/xdg/"])
    for list in ["", "relative", ":./a:"] {
      let paths = places(["XDG_CONFIG_DIRS": list]).allUsers.map(\.filePath)
      #expect(paths == ["/etc/xdg/"], "\(list)")
    }
    let several = places(["XDG_CONFIG_DIRS": "/a:b::/c"]).allUsers
    #expect(several.map(\.filePath) == ["/a/", "/c/"])
  }

  @Test func nothingOfTheProcessIsSeenInMemory() {
    let environment = Preferences.Environment.inMemory()
    #expect(environment.search.directories.config == nil)
    #expect(environment.search.directories.managed == nil)
    #expect(environment.search.directories.allUsers.isEmpty)
    #expect(environment.search.shared.arguments.isEmpty)
  }

  @Test func theProcesssEnvironmentHasItsNameAndPlaces() {
    let process = Preferences.Environment.process
    #expect(!process.appID.isEmpty)
    #expect(process.search.directories.managed?.filePath == "/etc/stead/managed/")
    #expect(process.search.host == HostID.current)
  }

  /// A tool that only looks leaves no directory behind.
  @Test func readingADomainThatIsNotThereMakesNothing() throws {
    let home = try TestHome()
    let app = try Preferences(
      options: .init(isReadOnly: true), environment: home.environment())
    #expect(app.object(forKey: "k") == nil)
    #expect(try home.directory.names == [])
  }
}
