import Foundation
import Testing
@testable import SteadPreferences

struct EnvironmentTests {
  private func places(_ variables: [String: String]) -> DomainDirectories {
    Preferences.Environment(variables: variables).search.directories
  }

  @Test func `the user's place is the specification's`() {
    #expect(places(["HOME": "/h"]).config?.filePath == "/h/.config/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]).config?.filePath == "/c/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": "c"]).config?.filePath == "/h/.config/")
    #expect(places(["HOME": "/h", "XDG_CONFIG_HOME": ""]).config?.filePath == "/h/.config/")
  }

  @Test func `all users' places are the specification's`() {
    #expect(places([:]).allUsers.map(\.filePath) == ["/etc/xdg/"])
    for list in ["", "relative", ":./a:"] {
      let paths = places(["XDG_CONFIG_DIRS": list]).allUsers.map(\.filePath)
      #expect(paths == ["/etc/xdg/"], "\(list)")
    }
    let several = places(["XDG_CONFIG_DIRS": "/a:b::/c"]).allUsers
    #expect(several.map(\.filePath) == ["/a/", "/c/"])
  }

  @Test func `nothing of the process is seen in memory`() {
    let environment = Preferences.Environment.inMemory()
    #expect(environment.search.directories.config == nil)
    #expect(environment.search.directories.managed == nil)
    #expect(environment.search.directories.allUsers.isEmpty)
    #expect(environment.search.shared.arguments.isEmpty)
  }

  @Test func `the process's environment has its name and places`() {
    let process = Preferences.Environment.process
    #expect(!process.appID.isEmpty)
    #expect(process.search.directories.managed?.filePath == "/etc/stead/managed/")
    #expect(process.search.host == HostID.current)
  }

  /// A tool that only looks leaves no directory behind.
  @Test func `reading a domain that is not there makes nothing`() throws {
    let home = try TestHome()
    let app = try Preferences(
      options: .init(isReadOnly: true), environment: home.environment())
    #expect(app.object(forKey: "k") == nil)
    #expect(try home.directory.names == [])
  }
}

struct HostIDTests {
  @Test func `the machine's identity does not show`() {
    let identity = "0123456789abcdef0123456789abcdef"
    let id = HostID.make(machineID: Data("\(identity)\n".utf8), hostName: "host")
    #expect(id.count == 32)
    #expect(!id.contains(identity.prefix(8)))
    #expect(id == HostID.make(machineID: Data(identity.utf8), hostName: "other name"))
    #expect(id != HostID.make(machineID: Data("1\(identity)".utf8), hostName: "host"))
  }

  @Test func `without an identity, the name counts`() {
    let id = HostID.make(machineID: nil, hostName: "host")
    #expect(id == HostID.make(machineID: Data("\n".utf8), hostName: "host"))
    #expect(id != HostID.make(machineID: nil, hostName: "other"))
    #expect(id.filter { !$0.isHexDigit } == "")
  }
}

struct ArgumentDomainTests {
  private func preferences(_ arguments: String...) -> Preferences {
    .inMemory(environment: .inMemory(arguments: ["program"] + arguments))
  }

  @Test func `keys begin with a hyphen and values follow`() {
    let preferences = preferences(
      "-theme", "dark", "input.txt", "-pageSize", "20", "-wide", "YES", "-ratio", "0.5", "--long",
      "x")
    #expect(preferences.string(forKey: "theme") == "dark")
    #expect(preferences.integer(forKey: "pageSize") == 20)
    #expect(preferences.bool(forKey: "wide"))
    #expect(preferences.double(forKey: "ratio") == 0.5)
    #expect(preferences.string(forKey: "-long") == "x")
    let names = preferences.volatileDomain(forName: Preferences.argumentDomain).keys
    #expect(Set(names) == ["theme", "pageSize", "wide", "ratio", "-long"])
  }

  @Test func `a key without a value is none`() {
    let preferences = preferences("-verbose", "-theme", "dark", "-", "x", "-last")
    #expect(preferences.object(forKey: "verbose") == nil)
    #expect(preferences.string(forKey: "theme") == "dark")
    #expect(preferences.object(forKey: "") == nil)
    #expect(preferences.object(forKey: "last") == nil)
  }

  @Test func `a negative number is a key as on Apple's systems`() {
    let preferences = preferences("-offset", "-5", "x", "-other", " 7 ")
    #expect(preferences.object(forKey: "offset") == nil)
    #expect(preferences.string(forKey: "5") == "x")
    #expect(preferences.string(forKey: "other") == "7")
  }

  @Test func `the program's name is no key`() {
    let environment = Preferences.Environment.inMemory(arguments: ["-program", "value"])
    #expect(Preferences.inMemory(environment: environment).object(forKey: "program") == nil)
  }

  @Test func `the last of one key counts`() {
    #expect(preferences("-k", "1", "-k", "2").integer(forKey: "k") == 2)
  }

  @Test func `arguments hide what is set and are not written`() throws {
    let preferences = preferences("-k", "argument")
    preferences.set("set", forKey: "k")
    #expect(preferences.string(forKey: "k") == "argument")
    #expect(preferences.persistentDomain(forName: "memory")?["k"] as? String == "set")
  }

  /// As Foundation's `UserDefaults` reads them, with Foundation's reader.
  @Test func `property lists are read`() {
    let preferences = preferences(
      "-list", "(a, \"b c\")", "-map", "{ k = v; }", "-number", "<integer>-5</integer>", "-text",
      "\"quoted\"", "-array", "<array><true/><real>1.5</real></array>")
    #expect(preferences.stringArray(forKey: "list") == ["a", "b c"])
    #expect(preferences.dictionary(forKey: "map") as? [String: String] == ["k": "v"])
    #expect(preferences.integer(forKey: "number") == -5)
    #expect(preferences.string(forKey: "text") == "quoted")
    #expect(preferences.array(forKey: "array")?.last as? Double == 1.5)
  }

  @Test(arguments: ["{ not a list", "(a", "<html>", "[x", "\"open"])
  func `what is no property list is a text`(text: String) {
    #expect(preferences("-k", text).string(forKey: "k") == text)
  }
}
