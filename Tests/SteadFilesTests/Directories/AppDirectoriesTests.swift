import Foundation
import Testing

@testable import SteadFiles

#if !canImport(Darwin)
  @Suite struct AppDirectoriesTests {
    let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func make(_ environment: [String: String] = [:]) throws -> AppDirectories {
      let base = ["HOME": home.url.filePath, "TMPDIR": home.file("tmp").filePath]
      return try AppDirectories(
        id: "com.example.notes", environment: base.merging(environment) { $1 })
    }

    private func below(_ path: String) -> String { home.file(path).filePath + "/" }

    @Test func `follows the specification's defaults`() throws {
      let directories = try make()
      #expect(directories.data.filePath == below(".local/share/com.example.notes"))
      #expect(directories.config.filePath == below(".config/com.example.notes"))
      #expect(directories.cache.filePath == below(".cache/com.example.notes"))
      #expect(directories.state.filePath == below(".local/state/com.example.notes"))
      #expect(directories.logs.filePath == below(".local/state/com.example.notes/logs"))
      #expect(directories.documents.filePath == below("Documents"))
      #expect(
        try directories.shared(group: "group.com.example").filePath
          == below(".local/share/group.com.example"))
      #expect(try home.names == [], "nothing is made before it is asked for")
    }

    @Test func `follows the environment`() throws {
      let directories = try make([
        "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c/", "XDG_CACHE_HOME": "/k",
        "XDG_STATE_HOME": "/s s",
      ])
      #expect(directories.data.filePath == "/d/com.example.notes/")
      #expect(directories.config.filePath == "/c/com.example.notes/")
      #expect(directories.cache.filePath == "/k/com.example.notes/")
      #expect(directories.state.filePath == "/s s/com.example.notes/")
    }

    @Test(arguments: ["", "relative/path", "./here", "~/there"])
    func `takes what is not absolute as not set`(path: String) throws {
      let names = ["DATA", "CONFIG", "CACHE", "STATE"]
      let environment = Dictionary(uniqueKeysWithValues: names.map { ("XDG_\($0)_HOME", path) })
      let (odd, plain) = (try make(environment), try make())
      #expect(odd.data == plain.data && odd.config == plain.config)
      #expect(odd.cache == plain.cache && odd.state == plain.state)
    }

    @Test func `finds the home directory without the environment`() throws {
      let directories = try AppDirectories(id: "a", environment: [:])
      let home = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache/a/")
      #expect(directories.cache.filePath == home.filePath)
    }

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "../x", "a\0b", "a\nb"])
    func `refuses an identifier that leads elsewhere`(id: String) throws {
      #expect(throws: FileError.self) { try AppDirectories(id: id) }
      #expect(throws: FileError.self) { try make().shared(group: id) }
    }

    @Test func `makes directories for their owner alone`() throws {
      let directories = try make()
      try directories.create(\.data)
      try directories.create(\.data)
      #expect(try home.file(".local").mode == 0o700)
      #expect(try home.file(".local/share").mode == 0o700)
      #expect(try directories.data.mode == 0o700)
    }

    @Test func `makes the directory of a group`() throws {
      let shared = try make().createShared(group: "group.com.example")
      #expect(shared.filePath == below(".local/share/group.com.example"))
      #expect(try shared.mode == 0o700)
    }

    @Test(arguments: [
      (nil, ["/etc/xdg/"]), ("", ["/etc/xdg/"]), ("relative", ["/etc/xdg/"]),
      ("/one:/two/", ["/one/", "/two/"]), ("::relative:/one:../two:", ["/one/"]),
    ])
    func `finds the settings of all users`(list: String?, paths: [String]) {
      let base = BaseDirectories(environment: list.map { ["XDG_CONFIG_DIRS": $0] } ?? [:])
      #expect(base.allUsersConfig.map(\.filePath) == paths)
    }

    @Test func `leaves the mode of what is there alone`() throws {
      try FileManager.default.createDirectory(
        at: home.file(".cache"), withIntermediateDirectories: false)
      try home.file(".cache").setMode(0o755)
      try make().create(\.cache)
      #expect(try home.file(".cache").mode == 0o755)
    }

    @Test func `says when a file is in the way`() throws {
      try Data().write(to: home.file(".config"))
      let error = #expect(throws: FileError.self) { try make().create(\.config) }
      #expect(error?.code == .notAFile)
    }

    @Test func `uses a runtime directory that is the user's alone`() throws {
      let run = home.file("run")
      try FileManager.default.createDirectory(at: run, withIntermediateDirectories: false)
      try run.setMode(0o700)
      let directories = try make(["XDG_RUNTIME_DIR": run.filePath])
      #expect(directories.runtime.filePath == run.filePath + "/com.example.notes/")
      #expect(directories.runtimeWarning == nil)
      try directories.create(\.runtime)
      #expect(try directories.runtime.mode == 0o700)
    }

    @Test(arguments: ["unset", "relative", "missing", "open to others", "a file", "a link"])
    func `stands in for a runtime directory that is not safe`(flaw: String) throws {
      let run = home.file("run")
      if flaw == "open to others" {
        try FileManager.default.createDirectory(at: run, withIntermediateDirectories: false)
        try run.setMode(0o755)
      } else if flaw == "a file" {
        try Data().write(to: run)
      } else if flaw == "a link" {
        try FileManager.default.createSymbolicLink(at: run, withDestinationURL: home.url)
      }
      let value = flaw == "unset" ? nil : flaw == "relative" ? "run" : run.filePath
      let directories = try make(value.map { ["XDG_RUNTIME_DIR": $0] } ?? [:])
      #expect(directories.runtime.filePath == below("tmp/com.example.notes-runtime-\(geteuid())"))
      #expect(directories.runtimeWarning?.contains("XDG_RUNTIME_DIR") == true)
      try directories.create(\.runtime)
      #expect(try directories.runtime.mode == 0o700)
    }

    @Test func `refuses a temporary directory that others can read`() throws {
      // Whoever makes a directory in /tmp first would see all that the app puts there.
      let directories = try make()
      try directories.create(\.temporary)
      try directories.temporary.setMode(0o755)
      let error = #expect(throws: FileError.self) { try directories.create(\.temporary) }
      #expect(error?.code == .denied)
    }

    @Test func `reads where the user has their documents`() throws {
      let config = home.file(".config")
      try FileManager.default.createDirectory(at: config, withIntermediateDirectories: false)
      try Data("# comment\nXDG_DOCUMENTS_DIR=\"$HOME/Dokumente\"\n".utf8)
        .write(to: config.appending(path: "user-dirs.dirs"))
      #expect(try make().documents.filePath == below("Dokumente"))
    }

    @Test(arguments: [
      (#"XDG_DOCUMENTS_DIR="$HOME/Dokumente""#, "/home/me/Dokumente"),
      (#"  XDG_DOCUMENTS_DIR = "/mnt/My Papers" # mine"#, "/mnt/My Papers"),
      (#"XDG_DOCUMENTS_DIR="$HOME""#, "/home/me"),
      (#"XDG_DOCUMENTS_DIR="$HOME/""#, "/home/me"),
      (#"XDG_DOCUMENTS_DIR="$HOME/a\"b\\c\$d""#, #"/home/me/a"b\c$d"#),
      ("XDG_DOCUMENTS_DIR=\"/first\"\nXDG_DOCUMENTS_DIR=\"/last\"", "/last"),
      ("XDG_MUSIC_DIR=\"/music\"\r\nXDG_DOCUMENTS_DIR=\"/papers\"\r\n", "/papers"),
      (#"XDG_DOCUMENTS_DIR="relative""#, nil),
      (#"XDG_DOCUMENTS_DIR="$HOMEWARD/x""#, nil),
      (#"XDG_DOCUMENTS_DIR="\$HOME/x""#, nil),
      (#"XDG_DOCUMENTS_DIR="\/x""#, nil),
      (#"XDG_DOCUMENTS_DIR="$HOME\/x""#, "/home/me/x"),
      (#"XDG_DOCUMENTS_DIR="/never closed"#, nil),
      ("XDG_DOCUMENTS_DIR=/no/quotes", nil),
      (##"#XDG_DOCUMENTS_DIR="/commented""##, nil),
      (#"MY_XDG_DOCUMENTS_DIR="/other""#, nil),
      ("", nil),
    ])
    func `parses user directories`(text: String, path: String?) {
      #expect(UserDirectories(text, home: "/home/me")["DOCUMENTS"] == path)
    }
  }
#endif
