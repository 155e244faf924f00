#if Server
import ArgumentParser

/// The command line of Stead.
@main
struct Stead: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stead", abstract: "Tools for what Stead keeps.",
    subcommands: [Serve.self, Lint.self, Advise.self])
}
#else
import Foundation

/// What a build of the whole package has without the packages of the trait `Server`.
@main
struct Stead {
  static func main() {
    let message = "stead was built without the trait Server. Build it with --traits Server.\n"
    FileHandle.standardError.write(Data(message.utf8))
    exit(EX_UNAVAILABLE)
  }
}
#endif
