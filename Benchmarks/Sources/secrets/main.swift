import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: vault-get, vault-set, vault-open, service-get, service-set, service-open
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 9)
  options.setClock()
  if !BenchmarkProgram.isAgain {
    if KeyringProcess.isAvailable { return try KeyringProcess.run(home: directory) }
    print("Without the Secret Service: dbus-run-session or gnome-keyring-daemon is missing.")
  }
  let comparisons =
    VaultGet.comparisons + VaultSet.comparisons + VaultOpen.comparisons + ServiceCalls.comparisons
  let isMet = try ComparisonRunner(options: options, directory: directory).run(comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("secrets", usage: usage, runBenchmarks))
